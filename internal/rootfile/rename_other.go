//go:build !linux && !darwin

package rootfile

import (
	"errors"
	"os"
)

// Exchange is not offered here; the caller looks and then renames.
func Exchange(*os.Root, string, string) error { return errors.ErrUnsupported }

// RenameNew is not offered here; the caller copies.
func RenameNew(*os.Root, string, *os.Root, string) error { return errors.ErrUnsupported }
