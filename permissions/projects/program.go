package projects

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"acp-agent/internal/rootfile"
)

// maxProgram bounds a file that a program of the project runs, in bytes.
const maxProgram = 32 << 20

// With returns the snapshot with further files of the project, which its configuration has
// a program run: their content is bound too. The names are from the top of the project;
// one that no file has is passed over, and counts when there is one. Config stays as it is.
func (s Snapshot) With(project string, names []string) (Snapshot, error) {
	root, err := os.OpenRoot(project)
	if err != nil {
		return Snapshot{}, err
	}
	defer root.Close()
	scan := scanner{root: root, files: slices.Clone(s.Files)}
	for _, file := range s.Files {
		scan.texts += len(file.Text)
	}
	for _, name := range names {
		known := slices.ContainsFunc(scan.files, func(f File) bool { return f.Name == filepath.ToSlash(name) })
		if known || !filepath.IsLocal(name) {
			continue
		}
		if err := scan.program(project, name); err != nil {
			return Snapshot{}, err
		}
	}
	if len(scan.files) == len(s.Files) {
		return s, nil
	}
	more := snapshotOf(scan.files)
	more.Config = s.Config
	return more, nil
}

// program adds a file that is run. What a link leads to outside the project is bound by
// where it leads.
func (s *scanner) program(project, name string) error {
	f, err := s.root.OpenFile(name, os.O_RDONLY|rootfile.Nonblock, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		if real, err := filepath.EvalSymlinks(filepath.Join(project, name)); err == nil {
			s.files = append(s.files, File{Name: filepath.ToSlash(name), Hash: hashOf([]byte("leads to " + real))})
		}
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return err // a directory, of which it is not known what is run
	}
	data, err := io.ReadAll(io.LimitReader(f, maxProgram+1))
	switch {
	case err != nil:
		return err
	case len(data) > maxProgram, len(s.files) >= maxFiles:
		return fmt.Errorf("what the project's configuration runs is too large to be trusted, at %s: at most %d files, %d MiB each", name, maxFiles, maxProgram>>20)
	}
	file := File{Name: filepath.ToSlash(name), Hash: hashOf(data)}
	if text := string(data); len(text) <= maxText && s.texts+len(text) <= maxTexts && utf8.ValidString(text) && !strings.ContainsRune(text, 0) {
		file.Text = text
		s.texts += len(text)
	}
	s.files = append(s.files, file)
	return nil
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// snapshotOf sorts the files and hashes their names and contents.
func snapshotOf(files []File) Snapshot {
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	sum := sha256.New()
	io.WriteString(sum, "acp-agent trust 1\n")
	for _, f := range files {
		fmt.Fprintf(sum, "%d %s %s\n", len(f.Name), f.Name, f.Hash)
	}
	hash := hex.EncodeToString(sum.Sum(nil))
	return Snapshot{Hash: hash, Config: hash, Files: files}
}
