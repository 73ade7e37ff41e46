package main

import (
	"os"
	"path/filepath"
	"strconv"

	"github.com/adrg/xdg"

	"acp-agent/internal/userfile"
)

// stateHome is where the agent keeps what it needs while it runs: the user's state
// directory. Where that is full or cannot be written, it is a private directory that
// ends with the login or the machine, for without one there is no sandbox, no scratch
// directory and no sidecar.
func stateHome() string {
	own := filepath.Join(xdg.StateHome, "acp-agent")
	if userfile.Room(own) == nil {
		return own
	}
	for _, dir := range []string{
		filepath.Join(xdg.RuntimeDir, "acp-agent"),
		filepath.Join(os.TempDir(), "acp-agent-"+strconv.Itoa(os.Geteuid())),
	} {
		// Made at once: another user could make it later, in a place that all may write.
		if filepath.IsAbs(dir) && !userfile.Missing(filepath.Dir(dir)) && userfile.MakeDir(dir) == nil && userfile.Room(dir) == nil {
			return dir
		}
	}
	return own
}
