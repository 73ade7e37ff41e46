package skills

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// maxInstructionFile is what is read of one file, from its end, in bytes.
const maxInstructionFile = 128 << 10

// instructionNames are the files of one directory, the preferred first.
func instructionNames() []string { return []string{"AGENTS.md", "CLAUDE.md", "CONTEXT.md"} }

// Instructions are what the user and the project tell every agent (R86).
type Instructions struct {
	// Text is for the system prompt: the user's own files first, the nearest
	// to the working directory last, each framed with its path. At most 32,000
	// bytes; "" when there are none.
	Text string
	// Files are the absolute paths of the files whose content Text holds, as they
	// were found and, where links lead elsewhere, as they resolve.
	Files []string
}

// LoadInstructions reads the instruction files: the user's own, those of the
// session's further roots, and those of the repository from its root down to
// the working directory; without a repository, of the working directory alone.
// A second file of a directory that says the same is left out. When they are
// too long together, the outermost text goes first, with a warning.
func LoadInstructions(o Options) (Instructions, []Warning) {
	r := &reading{opener: opener{o.Secret}}
	var user []string
	if o.ConfigHome != "" {
		user = append(user, filepath.Join(o.ConfigHome, "acp-agent", "AGENTS.md"))
	}
	if o.Home != "" {
		user = append(user, filepath.Join(o.Home, ".agents", "AGENTS.md"), filepath.Join(o.Home, ".claude", "CLAUDE.md"))
	}
	r.group(user, "")
	p := projectOf(o.Cwd)
	if !p.repository && len(p.dirs) > 0 {
		p.dirs = p.dirs[:1]
	}
	inward := p.places()
	slices.Reverse(inward)
	for _, place := range append(p.further(o.Roots), inward...) {
		var files []string
		for _, name := range instructionNames() {
			files = append(files, filepath.Join(place.dir, name))
		}
		r.group(files, place.base)
	}
	return r.compose(), r.warn
}

// reading is the loading of instructions under way.
type reading struct {
	opener
	blocks []block
	warn   warnings
}

// block is the text of one file.
type block struct {
	path string
	// files are the paths by which this text is known, path among them.
	files []string
	text  string
	cut   bool
}

// group reads files that belong together, of which none need say what another
// has said.
func (r *reading) group(files []string, base string) {
	first := len(r.blocks)
	for _, path := range files {
		b, err := r.read(path, base)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				r.warn.add(path, "%v", err)
			}
			continue
		}
		if known := r.known(b, first); known >= 0 {
			r.blocks[known].files = append(r.blocks[known].files, b.files...)
			continue
		}
		if b.text != "" && !isImport(b.text) {
			r.blocks = append(r.blocks, b)
		}
	}
}

func (r *reading) read(path, base string) (block, error) {
	file, err := r.openRegular(path, base)
	if err != nil {
		return block{}, err
	}
	defer file.Close()
	data, cut, err := file.tail(maxInstructionFile)
	if err != nil {
		return block{}, err
	}
	b := block{path: path, files: []string{path}, text: strings.TrimSpace(readable(data)), cut: cut}
	if file.real != path {
		b.files = append(b.files, file.real)
	}
	return b, nil
}

// known is the index of the block that holds what b does: the same file, or in
// the group, which begins at first, the same text. -1 when there is none.
func (r *reading) known(b block, first int) int {
	real := b.files[len(b.files)-1]
	for i, other := range r.blocks {
		if slices.Contains(other.files, real) || i >= first && (other.text == b.text || isImport(b.text)) {
			return i
		}
	}
	return -1
}

// isImport reports whether a file only refers to the AGENTS.md beside it.
func isImport(text string) bool { return text == "@AGENTS.md" || text == "@./AGENTS.md" }
