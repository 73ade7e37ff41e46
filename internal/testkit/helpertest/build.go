package helpertest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// dir is where the helper was built; empty without one.
var dir string

// environ is the environment before any test changes it: with another HOME, the go command would
// compile everything anew.
var environ = os.Environ()

// Path returns the program that is to be started as the helper: the small one, or where it cannot
// be built, for there is no Go or no cp, the test binary, whose TestMain has to serve as the helper,
// too.
var Path = sync.OnceValue(func() string {
	self, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	made, err := os.MkdirTemp("", "acp-agent-helper")
	if err != nil {
		return self
	}
	dir = made
	built := filepath.Join(dir, "helper")
	if Build("acp-agent/internal/testkit/helpertest/helper", built) != nil {
		return self
	}
	return built
})

// Build builds a program as make build does, with more flags, which has most of it in the build cache. It runs the
// program by cp, as it were: go run keeps what it links in the cache, and go build links anew each
// time.
func Build(pkg, to string, flags ...string) error {
	build := exec.Command("go", slices.Concat([]string{"run", "-ldflags=-s -w", "-exec", "cp"}, flags, []string{pkg, to})...)
	build.Env = append(environ[:len(environ):len(environ)], "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(build.Args, " "), err, out)
	}
	return nil
}

// Remove removes what Path has built. Nothing may run any more.
func Remove() {
	if dir != "" {
		os.RemoveAll(dir)
	}
}
