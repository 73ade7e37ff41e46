package run

import (
	"errors"
	"io/fs"

	"acp-agent/internal/gitdir"
	"acp-agent/internal/redact"
)

// gitModules is the file with the addresses of a repository's submodules.
const gitModules = ".gitmodules"

// MaxAddressFile bounds the file that is looked at for addresses; a larger one counts as one that holds some.
const MaxAddressFile = 1 << 20

// HoldsAddress reports whether a file of git's holds an address with a user and password, or may do so.
func HoldsAddress(path string) bool {
	data, err := gitdir.Read(path, MaxAddressFile)
	text := string(data)
	return err != nil && !errors.Is(err, fs.ErrNotExist) || redact.Addresses(text) != text
}
