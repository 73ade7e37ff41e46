//go:build !linux && !darwin

package workspace

import (
	"io/fs"
	"time"
)

// changed is when a file last changed.
func changed(info fs.FileInfo) time.Time { return info.ModTime() }
