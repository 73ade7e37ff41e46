package sandbox

import (
	"os"
	"strconv"
	"syscall"
	"testing"

	"acp-agent/internal/launch"
)

func TestMain(m *testing.M) {
	if claims := os.Getenv(holdEnv); claims != "" {
		holdAndDie(claims, os.Args[1:])
	}
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case launch.HelperArg:
			// Not os.Exit: the race detector would sleep for a second there.
			syscall.Exit(launch.Helper(os.Args[2:], Step))
		case InnerArg:
			syscall.Exit(Inner(os.Args[2:]))
		case CanaryArg:
			syscall.Exit(Canary(os.Args[2:], os.Stdout))
		case callsArg:
			syscall.Exit(systemCalls(os.Args[2], os.Stdout))
		}
	}
	os.Exit(m.Run())
}

func launcher(t testing.TB) *launch.Launcher {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	l := &launch.Launcher{Self: self}
	t.Cleanup(l.Dismiss)
	return l
}

func itoa(n int) string { return strconv.Itoa(n) }
