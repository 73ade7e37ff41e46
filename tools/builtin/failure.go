package builtin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"acp-agent/tools"
)

// secretKept is the error of changing a file that holds secrets.
func secretKept(path string) *tools.Error {
	return &tools.Error{
		Kind: tools.BadInput, Code: tools.CodeSecretFile, Path: path,
		Message: "Refusing to change a file that holds secrets.", Hint: "Tell the user which change to make.",
	}
}

// noPath is the error of an empty path, which would mean the working directory.
func noPath(tool string) *tools.Error {
	return tools.Errorf(tools.BadInput, "%s: path must not be empty", tool)
}

// fileFailure gives an error of the file system the shape a model reads. Only a
// file that is not there is reported as missing (R31).
func fileFailure(operation, path string, err error) error {
	_, known := errors.AsType[*tools.Error](err)
	switch {
	case known, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return tools.Missing(path)
	}
	return &tools.Error{Kind: tools.Backend, Path: path, Message: fmt.Sprintf("%s %s: %v", operation, path, err), Err: err}
}

// unknown reports whether an error of reading says nothing of what the file holds: then
// it is not to be replaced or deleted unseen. A file that is too large or no text can be.
func unknown(err error) bool {
	known, ok := errors.AsType[*tools.Error](err)
	return err != nil && (!ok || known.Kind != tools.BadInput)
}
