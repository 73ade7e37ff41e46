package recovery

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"sync"
)

var tempPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\.acp-agent-[a-z2-7]{26}\.tmp$`) })

// TempName returns a new name for a temporary file beside its target.
func TempName() string { return ".acp-agent-" + strings.ToLower(rand.Text()) + ".tmp" }

// IsTempName reports whether a file's name is one that TempName makes.
func IsTempName(name string) bool { return tempPattern().MatchString(name) }

// PutBack gives a file that was moved aside to a temporary name its own name again. If
// the user has saved another file under it since, that file stays: the newest one wins,
// and the old one goes.
func PutBack(dir *os.Root, temp, name string) error {
	err := dir.Link(temp, name)
	if err == nil || errors.Is(err, fs.ErrExist) {
		_ = dir.Remove(temp) // what stays is swept later
		return nil
	}
	// Not every file system has hard links.
	if _, err := dir.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		_ = dir.Remove(temp)
		return nil
	}
	return dir.Rename(temp, name)
}
