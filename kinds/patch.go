package kinds

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
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

// namesAt reports whether lines begin with the two names of a file.
func namesAt(lines []string) bool {
	return len(lines) > 1 && strings.HasPrefix(lines[0], "--- ") && strings.HasPrefix(lines[1], "+++ ")
}

// unifiedFile is a file of a unified diff as its header lines say.
type unifiedFile struct {
	git, old, new, from, to        string
	named, created, deleted, hunks bool
}

func (f *unifiedFile) file() patchedFile {
	old, new := f.old, f.new
	if f.named {
		old, new = trimPrefixes(old, new)
	} else {
		old, new = gitNames(f.git)
	}
	switch {
	case f.from != "" || f.to != "":
		old, new = f.from, f.to
	case f.created:
		old = ""
	case f.deleted && old != "":
		new = ""
	}
	return patchedFile{old: old, new: new, changed: f.hunks}
}

// unifiedFiles reads a unified diff as internal/patch does, hunks passed over.
func unifiedFiles(lines []string) (files []patchedFile) {
	var f *unifiedFile // nil in prose
	end := func() {
		if f != nil {
			files = append(files, f.file())
		}
		f = nil
	}
	open := func() {
		end()
		f = &unifiedFile{}
	}
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if strings.HasPrefix(line, "rename from ") && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "rename to ") &&
			(f == nil || f.named || f.from != "" || f.hunks) {
			open()
		}
		switch {
		case strings.HasPrefix(line, "diff --git "):
			open()
			f.git = line[len("diff --git "):]
		case namesAt(lines[i:]):
			old, new := fileName(line[4:]), fileName(lines[i+1][4:])
			if f == nil || f.named || f.hunks || f.from != "" && old != f.from && old != "a/"+f.from {
				open()
			}
			f.named, f.old, f.new = true, old, new
			i++
		case strings.HasPrefix(line, "@@"):
			if f != nil {
				f.hunks = true
			}
			i = bodyEnd(lines, i+1, line) - 1
		case strings.HasPrefix(line, "```"), strings.HasPrefix(line, "From "), signatureAt(lines[i:]):
			end()
		case f != nil && !f.hunks:
			f.extended(line)
		}
	}
	end()
	return files
}

// extended takes a header line of git that says more than the names.
func (f *unifiedFile) extended(line string) {
	if name, ok := strings.CutPrefix(line, "rename from "); ok {
		f.from = plainName(name)
	} else if name, ok := strings.CutPrefix(line, "rename to "); ok {
		f.to = plainName(name)
	}
	f.created = f.created || strings.HasPrefix(line, "new file mode ")
	f.deleted = f.deleted || strings.HasPrefix(line, "deleted file mode ")
}

var hunkHeader = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^@@+\s*-\d{1,9}(?:,(\d{1,9}))?\s+\+\d{1,9}(?:,(\d{1,9}))?\s*@@`)
})

// bodyEnd is the index behind a hunk's body that begins at i. Two lines that look
// like names end it only where its counts let them.
func bodyEnd(lines []string, i int, header string) int {
	old, new := 1, 1
	m := hunkHeader().FindStringSubmatch(header)
	if m != nil {
		for k, left := range []*int{&old, &new} {
			if n, err := strconv.Atoi(m[k+1]); err == nil {
				*left = n
			}
		}
	}
	for ; i < len(lines); i++ {
		line := lines[i]
		used := m != nil && old <= 0 && new <= 0
		above := i+2 < len(lines) && strings.HasPrefix(lines[i+2], "@@") && (m == nil || old != 1 || new != 1)
		switch {
		case namesAt(lines[i:]) && (used || above), used && signatureAt(lines[i:]):
			return i
		case line == "" || line[0] == ' ':
			old, new = old-1, new-1
		case line[0] == '-':
			old--
		case line[0] == '+':
			new--
		case !strings.HasPrefix(line, `\ `):
			return i
		}
	}
	return i
}

// signatureAt reports whether lines begin with what git puts below a patch.
func signatureAt(lines []string) bool {
	return lines[0] == "-- " && (len(lines) == 1 || lines[1] == "" || lines[1][0] >= '0' && lines[1][0] <= '9')
}

// plainName is a name that stands to the end of its line.
func plainName(text string) string {
	if strings.HasPrefix(text, `"`) {
		return fileName(text)
	}
	return strings.TrimRight(text, " \r")
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
	return "Patch " + Names(names), locations
}

func lspKind(operation string) Kind {
	if operation == "diagnostics" || operation == "hover" {
		return Read
	}
	return Search
}
