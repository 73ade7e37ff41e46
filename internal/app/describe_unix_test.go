//go:build unix

package app

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/config"
	"acp-agent/tools/mount"
)

// An executable that says more of itself than is read is told so, and not that its
// JSON is broken.
func TestCore_DescribeIsBounded(t *testing.T) {
	core := newCore(io.Discard)
	core.stateDir, core.sources = t.TempDir(), config.Sources{}
	defer core.Close()
	core.Warm()
	for name, size := range map[string]int{"fits": mount.MaxDescribed, "too long": mount.MaxDescribed + 1} {
		dir := t.TempDir()
		script := fmt.Sprintf("#!/bin/sh\necho '{\"name\":\"told\",\"description\":\"by itself\"}'\nhead -c %d /dev/zero | tr '\\000' ' '\n",
			size-len(`{"name":"told","description":"by itself"}`+"\n"))
		for file, text := range map[string]string{"tool.json": `{"executable":"run.sh"}`, "run.sh": script} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(dir, 0o755); err != nil { // whatever the umask
			t.Fatal(err)
		}
		m := mount.Run(t.Context(), mount.Plan{{Module: "flood", Source: dir}}, core.mountOptions(nil, config.Toolbox{}))
		failed := m.Failures()
		if size <= mount.MaxDescribed {
			if len(failed) > 0 {
				t.Errorf("%s: %v", name, failed[0])
			}
			continue
		}
		if len(failed) != 1 || !strings.HasSuffix(failed[0].Error(), "describe answered with more than 262144 bytes") {
			t.Errorf("%s: failures %v", name, failed)
		}
	}
}
