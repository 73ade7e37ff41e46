package rootfile

import (
	"io/fs"
	"os"
)

// SameMoment reports whether two looks at a name saw one file with one content, as far as
// identity, size and time of modification tell.
func SameMoment(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
