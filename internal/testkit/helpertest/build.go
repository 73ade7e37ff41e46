package helpertest

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// dir is where the helper was built; empty without one.
var dir string

// Path returns the program that is to be started as the helper: the small one in a build
// with the race detector, and otherwise, or where there is no Go to build it, the test
// binary, whose TestMain has to serve as the helper, too.
var Path = sync.OnceValue(func() string {
	self, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	if !raceEnabled {
		return self
	}
	made, err := os.MkdirTemp("", "acp-agent-helper")
	if err != nil {
		return self
	}
	dir = made
	built := filepath.Join(dir, "helper")
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", built, "acp-agent/internal/testkit/helpertest/helper")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if build.Run() != nil {
		return self
	}
	return built
})

// Remove removes what Path has built. Nothing may run any more.
func Remove() {
	if dir != "" {
		os.RemoveAll(dir)
	}
}
