package skills

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Document is a Markdown file that a user laid out for agents, read whole.
type Document struct {
	// Path is where it was found.
	Path string
	Text []byte
}

// maxDocuments bounds how many files of a user's are read in all.
const maxDocuments = 200

// Documents reads the Markdown files that lie directly in directories of the
// user's own, in the order of the directories and their names. Files that are
// larger than limit bytes, secret, or no regular files are warnings; a directory
// that is not there is none. Links may lead anywhere, and a file that was read
// already is left out.
func Documents(dirs []string, limit int64, secret func(path string) bool) ([]Document, []Warning) {
	s := shelf{opener: opener{secret}, limit: limit, read: map[string]bool{}}
	for _, dir := range dirs {
		s.directory(dir)
	}
	return s.documents, s.warn
}

// DocumentsBelow is Documents for all that lies beneath one directory, down to 8 directories. A
// link that lies deeper than directly in it is not followed, nor is one to a directory.
func DocumentsBelow(dir string, limit int64, secret func(path string) bool) ([]Document, []Warning) {
	s := shelf{opener: opener{secret}, limit: limit, read: map[string]bool{}, depth: maxDocumentDepth}
	s.directory(dir)
	return s.documents, s.warn
}

// maxDocumentDepth bounds how deep documents may lie.
const maxDocumentDepth = 8

// shelf is a search for documents under way.
type shelf struct {
	opener
	limit     int64
	depth     int // of directories that are still gone into
	nested    bool
	documents []Document
	read      map[string]bool
	warn      warnings
}

func (s *shelf) directory(name string) {
	dir, err := s.open(name, "")
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			s.warn.add(name, "%v", err)
		}
		return
	}
	defer dir.Close()
	if !dir.info.IsDir() {
		s.warn.add(name, "is no directory")
		return
	}
	entries, err := dir.ReadDir(maxEntries)
	if err != nil && !errors.Is(err, io.EOF) {
		s.warn.add(name, "%v", cause(err))
	}
	if len(entries) == maxEntries {
		s.warn.add(name, "holds too much: only %d entries were looked at", maxEntries)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	for _, e := range entries {
		switch {
		case e.IsDir() && s.depth > 0:
			below := *s
			below.depth, below.nested = s.depth-1, true
			below.directory(filepath.Join(name, e.Name()))
			s.documents, s.warn = below.documents, below.warn
		case strings.EqualFold(filepath.Ext(e.Name()), ".md") && (e.Type().IsRegular() || !s.nested && e.Type()&os.ModeSymlink != 0):
			s.file(filepath.Join(name, e.Name()))
		}
	}
}

func (s *shelf) file(name string) {
	file, err := s.openRegular(name, "")
	if err != nil {
		s.warn.add(name, "%v", err)
		return
	}
	defer file.Close()
	if s.read[file.real] {
		return
	}
	s.read[file.real] = true
	data, err := file.head(s.limit + 1)
	switch {
	case err != nil:
		s.warn.add(name, "%v", err)
	case int64(len(data)) > s.limit:
		s.warn.add(name, "is not used: it is larger than %d bytes", s.limit)
	case len(s.documents) == maxDocuments:
		s.warn.add(name, "is not used: there are %d files already", maxDocuments)
	default:
		s.documents = append(s.documents, Document{name, data})
	}
}
