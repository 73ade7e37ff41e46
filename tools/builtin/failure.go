package builtin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"acp-agent/tools"
)

// secretCode tells clients that a secret file was refused (R29).
const secretCode = "reading-secret-file"

// missing is the error of a path that does not exist.
func missing(path string) *tools.Error {
	return &tools.Error{
		Kind: tools.BadInput, Path: path, Message: fmt.Sprintf("ENOENT: no such file or directory '%s'", path), Err: fs.ErrNotExist,
	}
}

// secretRefused is the error of reading a file that holds secrets.
func secretRefused(path string) *tools.Error {
	return &tools.Error{
		Kind: tools.BadInput, Code: secretCode, Path: path,
		Message: "Refusing to read env file. Reading secrets is not permitted.",
	}
}

// secretKept is the error of changing a file that holds secrets.
func secretKept(path string) *tools.Error {
	return &tools.Error{
		Kind: tools.BadInput, Code: secretCode, Path: path,
		Message: "Refusing to change a file that holds secrets.", Hint: "Tell the user which change to make.",
	}
}

// binaryRefused is the error of showing a file that is not text.
func binaryRefused(path string) *tools.Error {
	return &tools.Error{
		Kind: tools.BadInput, Path: path, Message: "File appears to be binary and cannot be displayed as text.",
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
		return missing(path)
	}
	return &tools.Error{Kind: tools.Backend, Path: path, Message: fmt.Sprintf("%s %s: %v", operation, path, err), Err: err}
}
