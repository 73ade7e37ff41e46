package mount

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"

	"acp-agent/tools"
)

// provenance is what an answer about the tool is bound to (M1): where the program lies, what it
// holds now, and the settings that it is given.
func (l *localTool) provenance() tools.Origin {
	place := filepath.Join(l.dir, l.manifest.Executable)
	path, err := l.executable()
	var content string
	if err == nil {
		content, err = contentOf(path)
	}
	if err != nil {
		content = "unreadable" // it does not run either
	}
	return tools.Origin{Digest: tools.DigestOf(l.dir, path, content, string(l.config)), Place: place}
}

// contentOf is the hash of a file.
func contentOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	return hex.EncodeToString(sum.Sum(nil)), errors.Join(err, f.Close())
}
