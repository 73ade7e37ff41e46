package app

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/adrg/xdg"

	"acp-agent/internal/userfile"
)

// stateHome is where the agent keeps what it needs while it runs: the user's state directory.
// Where that is full or cannot be written, it is a private directory that lasts as long as the
// user's login or until a reboot, because without any there is no sandbox, no scratch directory
// and no sidecar.
func stateHome() string {
	places := stateHomes()
	own := places[0]
	if userfile.Room(own) == nil {
		return own
	}
	for _, dir := range places[1:] {
		// Made at once: another user could make it later, in a place that all may write.
		if !userfile.Missing(filepath.Dir(dir)) && userfile.MakeDir(dir) == nil && userfile.Room(dir) == nil {
			return dir
		}
	}
	return own
}

// stateHomes are the places for state, the usual one first. No tool may write to any of them, in
// use or not, because another process of the agent may keep its sessions there.
func stateHomes() []string {
	own := filepath.Join(xdg.StateHome, "acp-agent")
	return append([]string{own}, slices.DeleteFunc([]string{
		filepath.Join(xdg.RuntimeDir, "acp-agent"),
		filepath.Join(os.TempDir(), "acp-agent-"+strconv.Itoa(os.Geteuid())),
	}, func(dir string) bool { return !filepath.IsAbs(dir) })...)
}
