package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEscape_Swapped has a job put a link to the home in the place of a directory that holds a secret and a protected name, and
// the directory back, over and over: the sandbox keeps such directories and files in place by their paths, and a command in mode
// auto was given the home, to write in it, unasked.
func TestEscape_Swapped(t *testing.T) {
	t.Parallel()
	for _, level := range []string{"bubblewrap", "namespaces", "landlock"} {
		t.Run(level, func(t *testing.T) {
			t.Parallel()
			w := startConfined(t, level, "", map[string]string{"job": "python3 swap.py", "reach": "sh reach.sh"}, map[string]string{
				"reach.sh": "cat ~/Documents/private x/Documents/private ~/.claude/creds x/.claude/creds\necho got out >> ~/.bashrc\necho got out >> x/.bashrc\n",
				"swap.py": "import os, ctypes\nos.makedirs('x/.claude')\nopen('x/.env', 'w').write('A=1')\nos.symlink('..', 'z')\n" +
					"while True: ctypes.CDLL(None).renameat2(-100, b'x', -100, b'z', 2)\n",
				"/home/.claude/creds": "canary-creds\n", "/home/Documents/private": "canary-private\n", "/home/.bashrc": "# mine\n",
			})
			w.Request("session/set_mode", map[string]any{"sessionId": w.ID, "modeId": "auto"}).Result()
			w.run(t, "job")
			for range 15 {
				if text := w.run(t, "reach"); strings.Contains(text, "canary-") {
					t.Fatalf("a command reads in the home: %s", text)
				}
			}
			if text, err := os.ReadFile(filepath.Join(w.home, ".bashrc")); err != nil || string(text) != "# mine\n" {
				t.Errorf("a command has written in the home: %q, %v", text, err)
			}
		})
	}
}
