//go:build unix

package mount_test

import (
	"os"
	"path/filepath"
	"testing"

	"acp-agent/tools/mount"
)

// M1: the provenance of a tool changes with the content of its program, also while the
// agent runs, and with its settings.
func TestLocal_Origin(t *testing.T) {
	dir := module(t, manifest)
	digest := func(config string) string {
		m := mount.Run(t.Context(), mount.Plan{{Module: "x", Source: dir, Config: []byte(config)}}, mount.Options{})
		if failed := m.Failures(); len(failed) > 0 {
			t.Fatal(failed[0])
		}
		return m.Tools()[0].Provenance().Digest
	}
	_, tool := mountLocal(t, dir, mount.Options{})
	first, script := tool.Provenance().Digest, filepath.Join(dir, "run.sh")
	if first == "" || digest(`{"k":1}`) != first {
		t.Error("the same program is another one")
	}
	if digest(`{"k":2}`) == first {
		t.Error("with other settings it is the same")
	}
	text, err := os.ReadFile(script)
	if err == nil {
		err = os.WriteFile(script, append(text, "# more\n"...), 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	changed := tool.Provenance().Digest
	if changed == first {
		t.Error("with another content it is the same")
	}
	if err := os.Remove(script); err != nil {
		t.Fatal(err)
	}
	if gone := tool.Provenance().Digest; gone == first || gone == changed {
		t.Error("gone, it is the same")
	}
}
