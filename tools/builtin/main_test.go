package builtin_test

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"testing"

	"acp-agent/internal/launch"
	"acp-agent/internal/testkit/helpertest"
	"acp-agent/internal/testkit/testreq"
)

// TestMain lets the test binary serve as the helper that runs commands.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == launch.HelperArg {
		// Not os.Exit: the race detector would sleep for a second there.
		syscall.Exit(launch.Helper(os.Args[2:]))
	}
	// Each check starts ripgrep and searches a tree; make long makes more of them.
	if err := flag.Set("rapid.checks", strconv.Itoa(testreq.Rounds(10, 30))); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	code := m.Run()
	helpertest.Remove()
	os.Exit(code)
}
