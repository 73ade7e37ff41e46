//go:build unix

package mount_test

import (
	"os"
	"path/filepath"
	"testing"

	"acp-agent/tools/mount"
)

// M1: what stands behind a tool is another thing when its program holds something else,
// also while the agent runs, and when its settings are others.
func TestLocal_Origin(t *testing.T) {
	dir := module(t, manifest)
	behind := func(config string) string {
		m := mount.Run(t.Context(), mount.Plan{{Module: "x", Source: dir, Config: []byte(config)}}, mount.Options{})
		if failed := m.Failures(); len(failed) > 0 {
			t.Fatal(failed[0])
		}
		return m.Tools()[0].Behind().Digest
	}
	_, tool := mountLocal(t, dir, mount.Options{})
	first, script := tool.Behind().Digest, filepath.Join(dir, "run.sh")
	if first == "" || behind(`{"k":1}`) != first {
		t.Error("the same program is another one")
	}
	if behind(`{"k":2}`) == first {
		t.Error("with other settings it is the same")
	}
	text, err := os.ReadFile(script)
	if err == nil {
		err = os.WriteFile(script, append(text, "# more\n"...), 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	changed := tool.Behind().Digest
	if changed == first {
		t.Error("with another content it is the same")
	}
	if err := os.Remove(script); err != nil {
		t.Fatal(err)
	}
	if gone := tool.Behind().Digest; gone == first || gone == changed {
		t.Error("gone, it is the same")
	}
}
