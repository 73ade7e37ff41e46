//go:build !linux && !darwin

package rootfile

import (
	"io/fs"
	"time"
)

// Changed is when a file last changed.
func Changed(info fs.FileInfo) time.Time { return info.ModTime() }
