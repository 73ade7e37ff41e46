package tools

import (
	"io"
	"strings"
)

// Sidecar is a file for the whole of a result that is returned cut.
type Sidecar interface {
	io.WriteCloser
	// Path is absolute and inside the session's read scope.
	Path() string
	// Dropped is the number of bytes that the quota refused.
	Dropped() int64
}

// SaveSidecar writes the whole of a result to a sidecar of the call, and returns its path. With an
// error the path, if any, holds the part that was written.
func SaveSidecar(rt Runtime, text string) (path string, err error) {
	sidecar, err := rt.Sidecar()
	if err != nil {
		return "", err
	}
	_, err = io.Copy(sidecar, struct{ io.Reader }{strings.NewReader(text)}) // in pieces, without a copy of the text
	if closeErr := sidecar.Close(); err == nil {
		err = closeErr
	}
	return sidecar.Path(), err
}
