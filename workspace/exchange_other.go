//go:build !linux && !darwin

package workspace

import (
	"errors"
	"os"
)

// exchange is not offered here; the caller looks and then renames.
func exchange(*os.Root, string, string) error { return errors.ErrUnsupported }
