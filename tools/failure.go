package tools

import (
	"errors"
	"fmt"
	"io/fs"
)

// What a denial came from, as Error.DeniedBy says it (R125). What the rules
// deny is named by the permissions.
const (
	DeniedByUser       = "user"       // the user
	DeniedByCapability = "capability" // beyond what a tool declares or a session holds
	DeniedByEnablement = "enablement" // the tool is switched off
	DeniedByMode       = "mode"       // the mode of the session changes nothing
	DeniedByWatchdog   = "watchdog"
	DeniedByNetwork    = "network" // an address that is not for tools
)

// Undeclared refuses what a tool tries beyond its own requirements: a fault of
// the tool, whatever wrote it.
func Undeclared(tool, what string) *Error {
	return &Error{
		Kind: Denied, DeniedBy: DeniedByCapability,
		Message: fmt.Sprintf("%s did not declare that it needs %s, so it was refused", tool, what),
		Detail:  "the author of the tool has to add it to what the tool requires",
	}
}

// CodeSecretFile is the Error.Code of what was refused because a file holds
// secrets (R29).
const CodeSecretFile = "reading-secret-file"

// ErrChanged is in the error of what was refused, and not done, because a file is not what
// it was when it was read (R41).
var ErrChanged = errors.New("changed since it was read")

// SecretRefused is the error of reading a file that holds secrets. Clients
// compare its text, and that of the errors below.
func SecretRefused(path string) *Error {
	return &Error{
		Kind: BadInput, Code: CodeSecretFile, Path: path,
		Message: "Refusing to read env file. Reading secrets is not permitted.",
	}
}

// BinaryRefused is the error of showing a file that is not text.
func BinaryRefused(path string) *Error {
	return &Error{Kind: BadInput, Path: path, Message: "File appears to be binary and cannot be displayed as text."}
}

// Missing is the error of a path that does not exist, and of nothing else (R31).
func Missing(path string) *Error {
	return &Error{
		Kind: BadInput, Path: path, Message: fmt.Sprintf("ENOENT: no such file or directory '%s'", path), Err: fs.ErrNotExist,
	}
}

// Oversize is the error of a text over the size bound of files (R104).
func Oversize(path string, size, limit int64) *Error {
	return &Error{
		Kind: BadInput, Path: path, Message: fmt.Sprintf("File %s exceeds size limit (%d > %d)", path, size, limit),
	}
}
