package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// File is a file or directory as it was when it was checked that a command may use it.
type File struct {
	Path string
	Info fs.FileInfo
}

// checkedFile is a File as it travels to the helper. Someone may put a link in its place until the sandbox shows it,
// such as a job of another session in whose directories it lies: it is shown only while it is what was checked.
type checkedFile struct {
	Path   string `json:"path"`
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
}

// checked are the files that have an identity on this system.
func checked(files []File) (list []checkedFile) {
	for _, f := range files {
		if f.Info == nil {
			continue
		}
		if device, inode, ok := identity(f.Info); ok {
			list = append(list, checkedFile{f.Path, device, inode})
		}
	}
	return list
}

// is reports whether a file is the one that was checked.
func (c checkedFile) is(info fs.FileInfo) bool {
	device, inode, ok := identity(info)
	return ok && device == c.Device && inode == c.Inode
}

// checked returns what is known of a path of the policy; nil when it may be whatever it is.
func (p *Policy) checked(path string) *checkedFile {
	for i := range p.Checked {
		if p.Checked[i].Path == path {
			return &p.Checked[i]
		}
	}
	return nil
}

// lookAgain returns an error when a command would see something else than what was checked.
func lookAgain(files []checkedFile) error {
	for _, c := range files {
		info, err := os.Lstat(c.Path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil || !c.is(info) {
			return fmt.Errorf("%s is no longer what was checked; run the command again", c.Path)
		}
	}
	return nil
}
