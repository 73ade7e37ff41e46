package patch

import (
	"context"
	"fmt"
	"path"
	"strings"
)

// Patch is a patch that could be read: changes of files, each named once.
type Patch struct {
	files []FileChange
}

// Files returns the changes in the order of the patch.
func (p *Patch) Files() []FileChange { return p.files }

// Op is what happens to a file.
type Op string

// The operations.
const (
	Create Op = "create"
	Modify Op = "modify"
	Delete Op = "delete"
	// Rename moves a file and may change it too.
	Rename Op = "rename"
)

// FileChange is what a patch does to one file.
type FileChange struct {
	Op Op
	// Path is the file's name as the patch writes it, prefixes such as "a/"
	// taken off. It may be relative or absolute, and is not cleaned.
	Path string
	// NewPath is the name after a Rename, "" otherwise.
	NewPath string
	// Hunks are the changed parts in the order of the patch. A Delete may have
	// none: then the text is not checked.
	Hunks []Hunk
	// Executable says that the patch wants a created file to be executable.
	Executable bool
	// Line is where the change begins in the patch, 1-based.
	Line int
}

// Names are the one or two paths that the change touches.
func (f FileChange) Names() []string {
	if f.Op == Rename {
		return []string{f.Path, f.NewPath}
	}
	return []string{f.Path}
}

// Count is the number of lines that the hunks add and remove.
func (f FileChange) Count() (added, removed int) {
	for _, h := range f.Hunks {
		for _, l := range h.Lines {
			switch l.Op {
			case Added:
				added++
			case Removed:
				removed++
			}
		}
	}
	return added, removed
}

// Hunk is one changed part of a file.
type Hunk struct {
	// Start is the first old line, 1-based, as the patch says; in a hunk without
	// old lines it is the line that the new ones follow. It counts only if
	// Numbered.
	Start    int
	Numbered bool
	// Anchors are lines of which the hunk stands below, outermost first.
	Anchors []string
	// AtEnd says that the hunk reaches to the end of the file.
	AtEnd bool
	Lines []Line
	// Line is where the hunk begins in the patch, 1-based.
	Line int
}

// Line is one line of a hunk.
type Line struct {
	Op LineOp
	// Text ends in a line feed, but where the patch says that there is none.
	Text string
}

// LineOp is what a hunk does to a line; its value is the mark in the patch.
type LineOp byte

// The operations on lines.
const (
	Context LineOp = ' '
	Added   LineOp = '+'
	Removed LineOp = '-'
)

// Error says what is wrong with a patch, or why it does not fit a text.
type Error struct {
	// Line is where in the patch, 1-based; 0 means the patch as a whole.
	Line int
	// Path is the file's name in the patch; "" where it is not known.
	Path string
	// Reason says what is wrong.
	Reason string
	// Old is the text that was looked for and not found; "" for other errors.
	Old string
}

func (e *Error) Error() string {
	text := e.Reason
	if e.Path != "" {
		text = e.Path + ": " + text
	}
	if e.Line == 0 {
		return text
	}
	return fmt.Sprintf("patch line %d: %s", e.Line, text)
}

func errorf(line int, path, format string, args ...any) *Error {
	return &Error{Line: line, Path: path, Reason: fmt.Sprintf(format, args...)}
}

// Parse reads a patch. The error is an *Error. Patches that are binary, change
// the mode of a file, copy files or name a file twice are refused. Reading ends with ctx,
// and then the error is its cause.
func Parse(ctx context.Context, text string) (*Patch, error) {
	src := newSource(ctx, text)
	read := readUnified
	if src.envelope {
		read = readEnvelope
	}
	files, err := read(src)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, errorf(0, "", "no change of a file found: a patch has lines \"--- old name\", \"+++ new name\" and \"@@ -1,3 +1,4 @@\"")
	}
	if err := namedOnce(files); err != nil {
		return nil, err
	}
	return &Patch{files: files}, nil
}

func namedOnce(files []FileChange) error {
	seen := map[string]int{}
	for _, f := range files {
		for _, name := range f.Names() {
			if name == "" || strings.ContainsRune(name, 0) {
				return errorf(f.Line, "", "%q is no name of a file", name)
			}
			clean := path.Clean(name)
			if line, twice := seen[clean]; twice {
				return errorf(f.Line, name, "the file is named at line %d already: put all its hunks below one header", line)
			}
			seen[clean] = f.Line
		}
	}
	return nil
}
