package launch

import (
	"errors"
	"path/filepath"
)

// fifos are the named pipes of a helper that a client starts.
type fifos struct {
	Control string `json:"control"`
	Output  string `json:"output"`
	Status  string `json:"status"`
}

func (f *fifos) check() error {
	for _, p := range []string{f.Control, f.Output, f.Status} {
		if !filepath.IsAbs(p) {
			return errors.New("launch: command names no pipe to its agent")
		}
	}
	return nil
}
