package config

import (
	"os"
	"path/filepath"

	"acp-agent/internal/regularfile"

	"github.com/adrg/xdg"
)

// System returns the sources of this process: its environment, its home, the XDG config
// directory, and the disk. It reads no file.
func System() Sources {
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // "~" is refused then, with an error that says so
	}
	return Sources{
		Getenv:    os.Getenv,
		ReadFile:  ReadFile,
		ConfigDir: xdg.ConfigHome,
		HomeDir:   home,
		LoginFile: filepath.Join(xdg.DataHome, "acp-agent", "login", "server.json"),
	}
}

// ReadFile reads a regular file up to a little more than maxFile, enough for the decoder
// to see that it is too large. A project's file is foreign: it may be a pipe that never
// ends or a device.
func ReadFile(path string) ([]byte, error) {
	return regularfile.Read(path, maxFile+1)
}
