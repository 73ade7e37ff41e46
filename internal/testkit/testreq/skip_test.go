package testreq_test

import (
	"fmt"
	"runtime"
	"testing"

	"acp-agent/internal/testkit/testreq"
)

// fake records how a test ended; both ways leave the goroutine, as the real ones do.
type fake struct {
	testing.TB
	ended string
}

func (f *fake) Helper() {}

func (f *fake) Skip(args ...any) {
	f.ended = "skip: " + fmt.Sprint(args...)
	runtime.Goexit()
}

func (f *fake) Fatalf(format string, args ...any) {
	f.ended = "fatal: " + fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func TestSkip(t *testing.T) {
	for _, tc := range []struct{ name, env, want string }{
		{"unset", "", "skip: no rg"},
		{"other value", "0", "skip: no rg"},
		{"required", "1", "fatal: no rg, and ACP_REQUIRE_ALL=1 allows no skipping"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Setenv(testreq.Env, tc.env)
			f := &fake{TB: t}
			done := make(chan struct{})
			go func() {
				defer close(done)
				testreq.Skip(f, "no rg")
			}()
			<-done
			if f.ended != tc.want {
				t.Errorf("test ended with %q, want %q", f.ended, tc.want)
			}
		})
	}
}
