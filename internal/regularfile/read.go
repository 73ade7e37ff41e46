package regularfile

import (
	"fmt"
	"io"
	"os"

	"acp-agent/internal/rootfile"
)

// Read returns the first bytes of a regular file, at most limit. A caller that has to know whether there
// are more asks for one more than it wants.
func Read(path string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|rootfile.Nonblock, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("not a regular file but %s", info.Mode().Type())
	}
	return io.ReadAll(io.LimitReader(f, limit))
}
