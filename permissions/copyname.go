package permissions

import "strings"

// copyEndings are what editors and programs append to the name of a file for a copy of it.
func copyEndings() []string {
	return []string{
		".bak", ".backup", ".old", ".orig", ".save", ".tmp", ".copy", ".lock", ".rej", ".swp", ".swo", ".swn",
	}
}

// originalNames returns the names that the original of a file may have, when a folded name
// says that the file is a copy. A copy holds the secrets of the original (P8), and may be a
// copy of a copy.
func originalNames(name string) []string {
	if rest, ok := strings.CutSuffix(name, "~"); ok {
		// Numbered ones of Emacs end in ".~1~".
		if plain, numbered := strings.CutSuffix(strings.TrimRight(rest, "0123456789"), ".~"); numbered {
			return []string{plain}
		}
		return []string{rest}
	}
	for _, front := range []string{"#", ".#", "copy of "} {
		if rest, ok := strings.CutPrefix(name, front); ok {
			return []string{strings.TrimSuffix(rest, "#")}
		}
	}
	for _, ending := range copyEndings() {
		if rest, ok := strings.CutSuffix(name, ending); ok {
			return []string{rest, strings.TrimPrefix(rest, ".")} // Vim hides its copy by a dot
		}
	}
	if plain := withoutCopyMark(name); plain != name {
		return []string{plain}
	}
	if dot := strings.LastIndexByte(name, '.'); dot > 0 {
		if plain := withoutCopyMark(name[:dot]); plain != name[:dot] {
			return []string{plain + name[dot:]}
		}
	}
	return nil
}

// withoutCopyMark drops what file managers put at the end of a name, or before its ending.
func withoutCopyMark(name string) string {
	for _, mark := range []string{" - copy", " copy"} {
		if rest, ok := strings.CutSuffix(name, mark); ok {
			return rest
		}
	}
	numbered, ok := strings.CutSuffix(name, ")")
	from := strings.LastIndex(numbered, " (")
	if !ok || from < 0 || strings.Trim(numbered[from+len(" ("):], "0123456789") != "" {
		return name
	}
	return numbered[:from]
}
