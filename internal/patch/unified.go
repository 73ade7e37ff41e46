package patch

import "strings"

// rawFile is one file of a unified diff as its lines say, not judged yet.
type rawFile struct {
	line     int
	git      string // what follows "diff --git "
	old, new string // of the lines "---" and "+++"
	named    bool   // those lines were seen
	from, to string // of a rename
	created  string // the mode
	deleted  bool
	modes    bool // lines "old mode" and "new mode"
	copied   bool
	hunks    []rawHunk
}

// rawHunk is one hunk, its body not read yet.
type rawHunk struct {
	line     int // of its header
	numbers  numbers
	numbered bool
	body     []string
	first    int // line of the body's first line
}

// unified reads the lines of a unified diff into files.
type unified struct {
	source
	i     int
	files []*rawFile
	// prose says that the lines belong to no file: before the first header, and
	// after a code fence or a mail's signature.
	prose bool
}

// readUnified is the whole way of a unified diff.
func readUnified(src source) ([]FileChange, error) {
	u := unified{source: src, prose: true}
	for u.i < len(u.lines) && !u.stopped() {
		if err := u.next(); err != nil {
			return nil, err
		}
	}
	changes := make([]FileChange, 0, len(u.files))
	for _, f := range u.files {
		change, err := f.change()
		if err != nil {
			return nil, err
		}
		changes = append(changes, change)
	}
	for i, f := range u.files {
		var err error
		if changes[i].Hunks, err = f.readHunks(changes[i], u.ended); err != nil {
			return nil, err
		}
	}
	return changes, nil
}

// next reads one line outside hunks, or a hunk.
func (u *unified) next() error {
	line := u.lines[u.i]
	if u.renames() {
		u.open()
	}
	switch {
	case strings.HasPrefix(line, "diff --git "):
		u.open().git = line[len("diff --git "):]
	case u.namesAt(u.i):
		return u.names()
	case strings.HasPrefix(line, "@@"):
		return u.hunk()
	case !u.prose && (strings.HasPrefix(line, "GIT binary patch") || strings.HasPrefix(line, "Binary files ")):
		return errorf(u.i+1, u.path(), "binary patches cannot be applied")
	case u.extended(line):
	case strings.HasPrefix(line, "```"), strings.HasPrefix(line, "From "), u.signature(u.i):
		u.prose = true
	case isEnvelope(line):
		return errorf(u.i+1, "", "a patch has one form: either lines \"--- name\" and \"+++ name\" or lines \"*** Update File: name\"")
	case u.prose || isBlank(line) || isNoise(line):
	default:
		return errorf(u.i+1, u.path(), "%.60q is neither a header nor a line of a hunk, which begins with a blank, + or -", line)
	}
	u.i++
	return nil
}

// open begins a file.
func (u *unified) open() *rawFile {
	f := &rawFile{line: u.i + 1}
	u.files, u.prose = append(u.files, f), false
	return f
}

// current is the file that header lines belong to, nil before the first.
func (u *unified) current() *rawFile {
	if len(u.files) == 0 || u.prose {
		return nil
	}
	return u.files[len(u.files)-1]
}

// path names the current file in errors.
func (u *unified) path() string {
	if f := u.current(); f != nil {
		return f.name()
	}
	return ""
}

// names reads the two lines of names. They go with the header of git above them.
func (u *unified) names() error {
	var both [2]string
	for i := range both {
		var err error
		if both[i], err = fileName(u.lines[u.i+i][4:], true); err != nil {
			return errorf(u.i+i+1, "", "%v", err)
		}
	}
	f := u.current()
	if f == nil || f.named || len(f.hunks) > 0 || f.from != "" && !f.isRenameOf(both[0]) {
		f = u.open()
	}
	f.named, f.old, f.new = true, both[0], both[1]
	u.i += 2
	return nil
}

// isRenameOf reports whether a name above hunks is the old one of the rename.
func (f *rawFile) isRenameOf(old string) bool {
	return old == f.from || old == "a/"+f.from
}

// extended takes a header line of git that says more than the names.
func (u *unified) extended(line string) bool {
	f := u.current()
	if f == nil || len(f.hunks) > 0 {
		return false
	}
	for _, header := range []struct {
		prefix string
		set    func(rest string)
	}{
		{"rename from ", func(rest string) { f.from = plainName(rest) }},
		{"rename to ", func(rest string) { f.to = plainName(rest) }},
		{"new file mode ", func(rest string) { f.created = strings.TrimSpace(rest) }},
		{"deleted file mode ", func(string) { f.deleted = true }},
		{"old mode ", func(string) { f.modes = true }},
		{"new mode ", func(string) { f.modes = true }},
		{"copy from ", func(string) { f.copied = true }},
		{"copy to ", func(string) { f.copied = true }},
	} {
		if rest, ok := strings.CutPrefix(line, header.prefix); ok {
			header.set(rest)
			return true
		}
	}
	return false
}

// renames reports whether the two lines of a rename stand here that begin a
// file, since there is none yet that they could belong to.
func (u *unified) renames() bool {
	f := u.current()
	return strings.HasPrefix(u.at(u.i), "rename from ") && strings.HasPrefix(u.at(u.i+1), "rename to ") &&
		(f == nil || f.named || f.from != "" || len(f.hunks) > 0)
}

// hunk finds a hunk: its header here, the end of its body in body.go. hunk.go reads it.
func (u *unified) hunk() error {
	f := u.current()
	if f == nil {
		return errorf(u.i+1, "", "a hunk needs the names of its file above it: lines \"--- old name\" and \"+++ new name\"")
	}
	h := rawHunk{line: u.i + 1, first: u.i + 2}
	h.numbers, h.numbered = hunkNumbers(u.lines[u.i])
	end := u.bodyEnd(u.i+1, h)
	h.body = u.lines[u.i+1 : end]
	if len(h.body) == 0 {
		return errorf(h.line, f.name(), "the hunk is empty")
	}
	f.hunks = append(f.hunks, h)
	u.i = end
	return nil
}

// isNoise reports whether a line between files says nothing that is needed.
func isNoise(line string) bool {
	for _, prefix := range []string{"index ", "similarity index ", "dissimilarity index ", "Index: ", "====", "diff ", "Only in ", `\ `} {
		if strings.HasPrefix(line, prefix) {
			return true
		}
	}
	return false
}
