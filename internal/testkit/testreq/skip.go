package testreq

import (
	"os"
	"testing"
)

// Env is the variable that, set to "1", turns every absence into a failure.
const Env = "ACP_REQUIRE_ALL"

// Skip ends the test because something it needs is absent: as skipped, or as failed
// when Env is set to "1". The reason names what is missing, for people. Like tb.Skip it
// must be called from the goroutine of the test.
func Skip(tb testing.TB, reason string) {
	tb.Helper()
	if os.Getenv(Env) == "1" {
		tb.Fatalf("%s, and %s=1 allows no skipping", reason, Env)
	}
	tb.Skip(reason)
}
