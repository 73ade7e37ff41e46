package sandbox

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRestrictsNamespaces(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]bool{"1\n": true, "0\n": false, "": false} {
		file := filepath.Join(dir, "state")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := restrictsNamespaces(file); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if restrictsNamespaces(filepath.Join(dir, "absent")) {
		t.Error("a system without AppArmor is restricted")
	}
}
