package app

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/adrg/xdg"

	"acp-agent/config"
)

// What a process keeps in its place for state is no more for the tools of one that has
// another place than for its own.
func TestOwn_EveryStateHome(t *testing.T) {
	t.Parallel()
	c := &core{stateDir: t.TempDir(), sources: config.System()}
	own := c.ownPaths()
	for _, dir := range []string{
		c.stateDir, filepath.Join(xdg.StateHome, "acp-agent"),
		filepath.Join(os.TempDir(), "acp-agent-"+strconv.Itoa(os.Geteuid())),
	} {
		if !slices.Contains(own, dir) {
			t.Errorf("%s is not among %v", dir, own)
		}
	}
}
