package workspace

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"acp-agent/internal/rootfile"
	"acp-agent/workspace/private"
	"acp-agent/workspace/undo/journal"
)

// planned is one renaming of a batch, as a sweep has to know it to undo it. Paths
// are absolute and without links.
type planned struct {
	Kind planKind `json:"kind"`
	Path string   `json:"path"`
	// Temp holds the new file until it takes the place, and then the old one; of a
	// deletion the file that was moved aside.
	Temp string `json:"temp,omitempty"`
	// To is the new name of a file that is renamed.
	To string `json:"to,omitempty"`
	// New names the bytes of the new file.
	New [sha256.Size]byte `json:"new"`
}

type planKind string

const (
	planReplace planKind = "replace"
	planCreate  planKind = "create"
	planRemove  planKind = "remove"
	planRename  planKind = "rename"
)

// planPrefix begins the names of plans, in the session's directory.
const planPrefix = "plan-"

// writePlan notes durably what is about to be renamed, until finish.
func writePlan(p *private.Dir, plan []planned) (finish func(), err error) {
	if err := p.Create(); err != nil {
		return nil, err
	}
	own, _ := p.Handles()
	if own == nil {
		return nil, fs.ErrClosed
	}
	var text bytes.Buffer
	lines := json.NewEncoder(&text)
	for _, line := range plan {
		if err := lines.Encode(line); err != nil {
			return nil, err
		}
	}
	name := filepath.Join(private.RunName, planPrefix+strings.ToLower(rand.Text()))
	finish = func() { _ = own.Remove(name) } // or with the whole directory
	f, err := own.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = f.Write(text.Bytes())
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		finish()
		return nil, err
	}
	return finish, nil
}

// undoPlans renames back what a dead session was in the middle of renaming, so that
// all files of a batch are the old ones. A file that was changed since stays. It is
// done before the temporary files are removed: they hold the old texts.
func undoPlans(dir string) {
	entries, err := os.ReadDir(filepath.Join(dir, private.RunName))
	if err != nil {
		return
	}
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), planPrefix) {
			continue
		}
		for _, one := range slices.Backward(readPlan(filepath.Join(dir, private.RunName, entry.Name()))) {
			one.undo()
		}
	}
}

// readPlan reads a plan. One that was not written to its end is empty: nothing was
// renamed.
func readPlan(path string) []planned {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	var plan []planned
	for line := range strings.Lines(string(text)) {
		var one planned
		if !strings.HasSuffix(line, "\n") || json.Unmarshal([]byte(line), &one) != nil || !one.sound() {
			return nil
		}
		plan = append(plan, one)
	}
	return plan
}

// sound reports whether a line can be one of ours: it decides about files.
func (p planned) sound() bool {
	if p.Kind == planRename {
		return filepath.IsAbs(p.Path) && filepath.IsAbs(p.To)
	}
	return filepath.IsAbs(p.Path) && filepath.Dir(p.Path) == filepath.Dir(p.Temp) && tempName.MatchString(filepath.Base(p.Temp))
}

func (p planned) undo() {
	dir, err := openUnmoved(filepath.Dir(p.Path))
	if err != nil {
		return
	}
	defer dir.Close()
	name, temp := filepath.Base(p.Path), filepath.Base(p.Temp)
	switch p.Kind {
	case planReplace:
		if p.holdsNew(dir, name) && isFile(dir, temp) && !p.holdsNew(dir, temp) {
			if rootfile.Exchange(dir, temp, name) != nil {
				_ = dir.Rename(temp, name) // the new text goes
			}
		}
	case planCreate:
		if p.holdsNew(dir, name) {
			_ = dir.Remove(name)
		}
	case planRemove:
		if isFile(dir, temp) {
			_ = (&temporary{dir: dir, name: temp}).putBackTo(name)
		}
	case planRename:
		to, err := openUnmoved(filepath.Dir(p.To))
		if err != nil {
			return
		}
		defer to.Close()
		if _, err := dir.Lstat(name); errors.Is(err, fs.ErrNotExist) && isFile(to, filepath.Base(p.To)) {
			_ = rootfile.RenameNew(to, filepath.Base(p.To), dir, name) // where it fails the file keeps its new name
		}
	}
}

// openUnmoved opens a directory whose path had no links, and still has none.
func openUnmoved(path string) (*os.Root, error) {
	t, err := follow(path)
	if err == nil && t.real() != path {
		err = errMoved
	}
	if err != nil {
		return nil, err
	}
	return os.OpenRoot(path)
}

func isFile(dir *os.Root, name string) bool {
	info, err := dir.Lstat(name)
	return err == nil && info.Mode()&(fs.ModeType&^fs.ModeSymlink) == 0
}

// holdsNew reports whether a name is a file that holds the new text.
func (p planned) holdsNew(dir *os.Root, name string) bool {
	if info, err := dir.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := dir.OpenFile(name, os.O_RDONLY|rootfile.Nonblock, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	content, err := journal.Sum(f)
	return err == nil && content.Sum == p.New
}
