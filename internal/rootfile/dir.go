package rootfile

import "os"

// Dir is a directory that is held open, with the absolute path it was opened by,
// which leads through no link.
type Dir struct {
	Path   string
	Handle *os.Root
}
