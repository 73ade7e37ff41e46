package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/config"
)

func TestSystem_Files(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config.jsonc")
	src := config.System()
	src.Getenv = func(name string) string { return map[string]string{"ACP_AGENT_CONFIG": path}[name] }

	for _, tc := range []struct{ name, text, want string }{
		{"good", `{"model": {"name": "m"}}`, ""},
		{"too large", strings.Repeat(" ", 1<<20), "is larger than"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if err := os.WriteFile(path, []byte(tc.text), 0o600); err != nil {
				t.Fatal(err)
			}
			cfg, err := config.Load(src, dir)
			switch {
			case tc.want == "" && (err != nil || cfg.Model.Name != "m"):
				t.Errorf("config %+v, error %v", cfg, err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("error %v, want %s", err, tc.want)
			}
		})
	}
}
