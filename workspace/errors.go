package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"acp-agent/tools"
)

// errMoved reports that a path led elsewhere when it was used than when it was
// looked at. It never leaves the package: the path is followed again, and a
// path that will not stand still is an error of its own.
var errMoved = errors.New("changed while it was being opened")

// errStrayed marks a text that an editor was given for a path which then led
// elsewhere.
var errStrayed = errors.New("led elsewhere")

func strayedError(path, real, where string) *tools.Error {
	went := "which could not be followed afterwards, so it is not known where the text was written"
	if where != "" {
		went = "which led to " + where + " afterwards, so the text may have been written there"
	}
	return &tools.Error{
		Kind: tools.Backend, Path: path, Err: errStrayed,
		Message: fmt.Sprintf("the editor was given the text of %s for %s, %s", real, path, went),
		Hint:    "change nothing more; tell the user to look at both files and at what moved the directory",
	}
}

func changedError(path string) *tools.Error {
	return &tools.Error{
		Kind: tools.Backend, Path: path, Err: tools.ErrChanged,
		Message: path + " was changed since it was read; nothing was written",
		Hint:    "read the file again and repeat the change",
	}
}

func endedError(path string) *tools.Error {
	return &tools.Error{Kind: tools.Aborted, Path: path, Message: path + ": the call has ended"}
}

// failure makes the error a model reads of what the system said of a path. A
// missing file stays apart from every other trouble (R31).
func failure(op, path string, err error) error {
	var known *tools.Error
	switch {
	case errors.As(err, &known):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, fs.ErrNotExist):
		gone := tools.Missing(path)
		gone.Err = err
		return gone
	case errors.Is(err, syscall.ENOTDIR):
		return &tools.Error{
			Kind: tools.BadInput, Path: path, Err: err,
			Message: fmt.Sprintf("ENOTDIR: not a directory '%s'", path),
		}
	}
	return &tools.Error{
		Kind: tools.Backend, Path: path, Err: err,
		Message: fmt.Sprintf("%s '%s': %s", op, path, reason(err)),
	}
}

// reason is the innermost cause, without the names of handles and system calls
// around it.
func reason(err error) string {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err.Error()
	}
	if link, ok := errors.AsType[*os.LinkError](err); ok { // it names a temporary file
		return link.Err.Error()
	}
	return strings.TrimSpace(err.Error())
}
