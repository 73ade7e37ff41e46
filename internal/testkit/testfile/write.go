package testfile

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Executable writes a program that only its owner can change, whatever the umask.
func Executable(tb testing.TB, path, text string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		tb.Fatal(err)
	}
	for _, name := range []string{path, filepath.Dir(path)} {
		if err := os.Chmod(name, 0o755); err != nil {
			tb.Fatal(err)
		}
	}
}

// JSON writes a value to a file and returns its path.
func JSON(tb testing.TB, path string, value any) string {
	tb.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

// Config writes the user's configuration into a directory of its own, and returns the
// variable of the environment that names it.
func Config(tb testing.TB, format string, args ...any) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "config.jsonc")
	if err := os.WriteFile(path, fmt.Appendf(nil, format, args...), 0o600); err != nil {
		tb.Fatal(err)
	}
	return "ACP_AGENT_CONFIG=" + path
}
