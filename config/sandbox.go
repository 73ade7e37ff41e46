package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"acp-agent/internal/launch"
)

// SandboxAuto takes the strongest sandbox that works, and none if none does.
const SandboxAuto = "auto"

// Sandbox says how the processes of tools are confined. Only the user sets it (T3).
type Sandbox struct {
	// Level is SandboxAuto, "bubblewrap", "namespaces", "landlock", "sandbox-exec" or "none". A kind
	// that is named and does not work keeps commands from running.
	Level string `json:"level"`
	// Network leaves the network open to all commands.
	Network bool `json:"network"`
	// OfferOutside has the user asked, about a command that the sandbox stopped or cannot serve,
	// whether it may run outside of it, once.
	OfferOutside bool `json:"offer_outside"`
}

func (f *file) checkSandbox(s Sandbox) error {
	return f.problem("sandbox.level", oneOf(s.Level, SandboxAuto, "bubblewrap", "namespaces", "landlock", "sandbox-exec", "none"))
}

// checkPassed checks the names of variables that commands are to have.
func (f *file) checkPassed(names []string) error {
	for i, name := range names {
		field := fmt.Sprintf("environment[%d]", i)
		switch {
		case name == "" || strings.ContainsAny(name, "=* \t\r\n\x00"):
			return f.errorf(field, "expects the name of a variable, found %q; its value stays where it is set", name)
		case !launch.Passable(name):
			return f.errorf(field, "%s cannot reach commands: it changes what programs load or how a command is read, so that what runs would not be what was judged", name)
		}
	}
	return nil
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
