package config

import (
	"path/filepath"
	"slices"
)

// SandboxAuto takes the strongest sandbox that works, and none if none does.
const SandboxAuto = "auto"

// Sandbox says how the processes of tools are confined. Only the user sets it (T3).
type Sandbox struct {
	// Level is SandboxAuto, "bubblewrap", "landlock", "sandbox-exec" or "none". A kind
	// that is named and does not work keeps commands from running.
	Level string `json:"level"`
	// Network leaves the network open to all commands.
	Network bool `json:"network"`
}

func (f *file) checkSandbox(s Sandbox) error {
	return f.problem("sandbox.level", oneOf(s.Level, SandboxAuto, "bubblewrap", "landlock", "sandbox-exec", "none"))
}

// PackageDirs are the directories in which package managers keep what they download.
// A command that was granted the network may write there. They need not exist.
func (s Sources) PackageDirs() []string {
	dirs := s.PackageCaches()
	cargo := s.getenv("CARGO_HOME")
	if cargo == "" && s.HomeDir != "" {
		cargo = filepath.Join(s.HomeDir, ".cargo")
	}
	if filepath.IsAbs(cargo) {
		dirs = appendNew(dirs, filepath.Join(cargo, "registry"), filepath.Join(cargo, "git"))
	}
	return slices.DeleteFunc(dirs, func(dir string) bool { return filepath.Base(dir) == "src" && filepath.Dir(dir) == s.getenv("GOROOT") })
}
