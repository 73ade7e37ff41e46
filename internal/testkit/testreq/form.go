package testreq

import (
	"flag"
	"os"
	"strconv"
	"testing"
)

// EnvFull is the variable that, set to "1", has every test run in its full form. make test
// sets it.
const EnvFull = "ACP_TEST_FULL"

// Full reports whether tests run in their full form.
func Full() bool { return os.Getenv(EnvFull) == "1" }

// Rounds returns how often, or with how much, a test does what it does: all in the full
// form, and few, which is at least one, in the short form.
func Rounds[N ~int | ~int64 | ~uint32](few, all N) N {
	if Full() {
		return all
	}
	return max(1, few)
}

// Beside runs a test beside others in the short form. In the full form, in which what it measures must not be disturbed, it
// runs by itself.
func Beside(t *testing.T) {
	if !Full() {
		t.Parallel()
	}
}

// Pick returns the cases that a test goes through: all in the full form, and n of them in
// the short form, evenly spread and the first among them.
func Pick[T any](n int, all []T) []T {
	if n = max(1, n); Full() || n >= len(all) {
		return all
	}
	some := make([]T, n)
	for i := range some {
		some[i] = all[i*len(all)/n]
	}
	return some
}

// rapidChecks is the flag of pgregory.net/rapid that says how many cases a property is checked
// with.
const rapidChecks = "rapid.checks"

// Checks has each property of a package that uses pgregory.net/rapid checked with so many cases
// in the short form, unless the command line says how many. It is for TestMain.
func Checks(few int) {
	if !Full() && flag.Lookup(rapidChecks) != nil {
		_ = flag.Set(rapidChecks, strconv.Itoa(few)) // a number is what the flag takes
	}
}
