//go:build !linux && !darwin

package workspace

import (
	"errors"
	"os"
)

// exchange is not offered here; the caller looks and then renames.
func exchange(*os.Root, string, string) error { return errors.ErrUnsupported }

// renameNew is not offered here; the caller copies.
func renameNew(*os.Root, string, *os.Root, string) error { return errors.ErrUnsupported }
