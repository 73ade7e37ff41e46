package kinds

import (
	"slices"
	"strconv"
	"strings"
)

// patchedFile is a file that a patch touches, as the patch names it.
type patchedFile struct {
	// old is "" for a file that is created, new for one that is deleted.
	old, new string
	// changed says that lines come or go.
	changed bool
}

// patchedFiles reads the lines of a patch that name files, in both forms that
// apply_patch takes. It is lenient: what it cannot make sense of names none.
func patchedFiles(patch string) []patchedFile {
	patch = strings.TrimPrefix(patch, "\ufeff")
	lines := strings.Split(strings.ReplaceAll(patch, "\r\n", "\n"), "\n")
	// A line of an envelope stands in no other patch that is applied, and prose
	// before it may look like headers.
	if i := slices.IndexFunc(lines, isEnvelopeLine); i >= 0 {
		return envelopeFiles(lines[i:])
	}
	return unifiedFiles(lines)
}

const (
	envelopeAdd    = "*** Add File: "
	envelopeUpdate = "*** Update File: "
	envelopeDelete = "*** Delete File: "
	envelopeMove   = "*** Move to: "
	envelopeEnd    = "*** End Patch"
	// envelopeEndOfFile ends a hunk, behind which others may stand.
	envelopeEndOfFile = "*** End of File"
)

func isEnvelopeLine(line string) bool {
	return strings.HasPrefix(line, "*** Begin Patch") || strings.HasPrefix(line, envelopeAdd) ||
		strings.HasPrefix(line, envelopeUpdate) || strings.HasPrefix(line, envelopeDelete)
}

// envelopeFiles reads an envelope. What stands behind its end is prose, up to the
// next line that begins a part.
func envelopeFiles(lines []string) (files []patchedFile) {
	prose, body := false, false
	for i, line := range lines {
		body = body && (line == envelopeEndOfFile || !strings.HasPrefix(line, "*** ") && !strings.HasPrefix(line, "```"))
		if body {
			last := &files[len(files)-1]
			last.changed = last.changed || strings.HasPrefix(line, "+") || strings.HasPrefix(line, "-")
			continue
		}
		if name, ok := strings.CutPrefix(line, envelopeAdd); ok {
			files, prose, body = append(files, patchedFile{new: strings.TrimSpace(name), changed: true}), false, true
		} else if name, ok := strings.CutPrefix(line, envelopeUpdate); ok {
			name = strings.TrimSpace(name)
			files, prose, body = append(files, patchedFile{old: name, new: name}), false, true
		} else if name, ok := strings.CutPrefix(line, envelopeDelete); ok {
			files, prose = append(files, patchedFile{old: strings.TrimSpace(name)}), false
		} else if name, ok := strings.CutPrefix(line, envelopeMove); ok && !prose && i > 0 && strings.HasPrefix(lines[i-1], envelopeUpdate) {
			files[len(files)-1].new, body = strings.TrimSpace(name), true
		} else if strings.TrimSpace(line) == envelopeEnd {
			prose = true
		}
	}
	return files
}

// headerAt reports whether lines begin with the two names of a file, and not
// with a line removed and one added that look like them.
func headerAt(lines []string) bool {
	if len(lines) < 2 || !strings.HasPrefix(lines[0], "--- ") || !strings.HasPrefix(lines[1], "+++ ") {
		return false
	}
	if len(lines) == 2 {
		return true
	}
	for _, next := range []string{"@@", "--- ", "diff ", "```"} {
		if strings.HasPrefix(lines[2], next) {
			return true
		}
	}
	return lines[2] == ""
}

func unifiedFiles(lines []string) (files []patchedFile) {
	open := false // header lines of the last file may still come
	last := func() *patchedFile {
		if !open {
			files, open = append(files, patchedFile{}), true
		}
		return &files[len(files)-1]
	}
	for i, line := range lines {
		if names, ok := strings.CutPrefix(line, "diff --git "); ok {
			open = false
			last().old, last().new = gitNames(names)
		} else if name, ok := strings.CutPrefix(line, "rename from "); ok {
			last().old = fileName(name)
		} else if name, ok := strings.CutPrefix(line, "rename to "); ok {
			last().new = fileName(name)
		} else if open && strings.HasPrefix(line, "new file mode ") {
			last().old = ""
		} else if open && strings.HasPrefix(line, "deleted file mode ") {
			last().new = ""
		} else if headerAt(lines[i:]) {
			old, new := fileName(line[4:]), fileName(lines[i+1][4:])
			if f := last(); f.old == "" || f.new == "" || f.old == f.new {
				f.old, f.new = trimPrefixes(old, new)
			} else if old != f.old && old != "a/"+f.old { // a rename is whole without names
				open = false
				f = last()
				f.old, f.new = trimPrefixes(old, new)
			}
			last().changed, open = true, false
		}
	}
	return files
}

// fileName is a name of a header line: in C quotes, or up to a tab, behind which
// programs put a time. /dev/null is none.
func fileName(text string) string {
	if quoted, err := strconv.QuotedPrefix(text); err == nil && strings.HasPrefix(text, `"`) {
		if name, err := strconv.Unquote(quoted); err == nil {
			return name
		}
	}
	text, _, _ = strings.Cut(text, "\t")
	text = strings.TrimRight(text, " \r")
	if text == "/dev/null" {
		return ""
	}
	return text
}

// trimPrefixes takes "a/" and "b/" off where they are those of git.
func trimPrefixes(old, new string) (string, string) {
	shortOld, hadOld := strings.CutPrefix(old, "a/")
	shortNew, hadNew := strings.CutPrefix(new, "b/")
	if hadOld && (hadNew || new == "") || hadNew && old == "" || shortOld == shortNew {
		return shortOld, shortNew
	}
	return old, new
}

// maxGitNames bounds the two names that are told apart, in bytes.
const maxGitNames = 8 << 10

// gitNames reads the names of a line "diff --git", which are equal but for their
// prefixes when no other line names the file.
func gitNames(text string) (old, new string) {
	text = strings.TrimRight(text, " \r")
	if len(text) > maxGitNames {
		return "", ""
	}
	for i := range len(text) {
		if text[i] != ' ' {
			continue
		}
		if old, new = trimPrefixes(fileName(text[:i]), fileName(text[i+1:])); old == new {
			return old, new
		}
	}
	return "", ""
}

// patchKind is delete or move for a patch that does nothing else.
func patchKind(patch string) Kind {
	files := patchedFiles(patch)
	deletes, moves := len(files) > 0, len(files) > 0
	for _, f := range files {
		deletes = deletes && f.old != "" && f.new == ""
		moves = moves && f.old != "" && f.new != "" && f.old != f.new && !f.changed
	}
	switch {
	case deletes:
		return Delete
	case moves:
		return Move
	}
	return Edit
}

func patchTitle(a arguments, in Place) (string, []Location) {
	var locations []Location
	var names []string
	seen := map[string]bool{}
	for _, f := range patchedFiles(a.text("patch")) {
		for _, path := range []string{f.old, f.new} {
			abs := in.Abs(path)
			if path == "" || seen[abs] {
				continue
			}
			seen[abs] = true
			locations = append(locations, Location{Path: abs})
			names = append(names, in.Rel(abs))
		}
	}
	if len(names) == 0 {
		return "", nil
	}
	return "Patch " + strings.Join(names, ", "), locations
}

func lspKind(operation string) Kind {
	if operation == "diagnostics" || operation == "hover" {
		return Read
	}
	return Search
}
