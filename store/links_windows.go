package store

import (
	"io/fs"
	"os"

	"golang.org/x/sys/windows"

	"acp-agent/internal/userfile"
)

// linkCount returns how many hard links a file has; 0 when that is not known.
func linkCount(name string, _ fs.FileInfo) uint64 {
	f, err := userfile.Open(name, os.O_RDONLY)
	if err != nil {
		return 0
	}
	defer f.Close()
	var info windows.ByHandleFileInformation
	if windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &info) != nil {
		return 0
	}
	return uint64(info.NumberOfLinks)
}
