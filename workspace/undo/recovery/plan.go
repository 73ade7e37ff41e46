package recovery

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"acp-agent/workspace/private"
)

// Step is one renaming of a batch, as a sweep has to know it to undo it. Paths are
// absolute and without links.
type Step struct {
	Kind Kind   `json:"kind"`
	Path string `json:"path"`
	// Temp holds the new file until it takes the place, and then the old one; of a
	// deletion the file that was moved aside.
	Temp string `json:"temp,omitempty"`
	// To is the new name of a file that is renamed.
	To string `json:"to,omitempty"`
	// New names the bytes of the new file.
	New [sha256.Size]byte `json:"new"`
}

// Kind says what a step does.
type Kind string

// The kinds of steps.
const (
	Replace Kind = "replace"
	Create  Kind = "create"
	Remove  Kind = "remove"
	Rename  Kind = "rename"
)

// planPrefix starts the names of plans, in the session's directory.
const planPrefix = "plan-"

// WritePlan notes durably which steps are about to be made. finish removes the note
// once all of them, or none, are made.
func WritePlan(p *private.Dir, steps []Step) (finish func(), err error) {
	if err := p.Create(); err != nil {
		return nil, err
	}
	own, _ := p.Handles()
	if own == nil {
		return nil, fs.ErrClosed
	}
	var text bytes.Buffer
	lines := json.NewEncoder(&text)
	for _, step := range steps {
		if err := lines.Encode(step); err != nil {
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

// readPlan reads a plan. One that was not written to its end is empty: nothing was
// renamed.
func readPlan(path string) []Step {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	var plan []Step
	for line := range strings.Lines(string(text)) {
		var step Step
		if !strings.HasSuffix(line, "\n") || json.Unmarshal([]byte(line), &step) != nil || !step.isSound() {
			return nil
		}
		plan = append(plan, step)
	}
	return plan
}

// isSound reports whether WritePlan can have written the step: it decides about files.
func (s Step) isSound() bool {
	if s.Kind == Rename {
		return filepath.IsAbs(s.Path) && filepath.IsAbs(s.To)
	}
	return filepath.IsAbs(s.Path) && filepath.Dir(s.Path) == filepath.Dir(s.Temp) && IsTempName(filepath.Base(s.Temp))
}
