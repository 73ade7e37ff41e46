package testreq_test

import (
	"flag"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/testkit/testreq"
)

func TestForm(t *testing.T) {
	all := []int{0, 1, 2, 3, 4, 5, 6}
	for _, tt := range []struct {
		env    string
		n      int
		rounds int
		pick   []int
	}{
		{"", 3, 3, []int{0, 2, 4}},
		{"0", 1, 1, []int{0}},
		{"", 0, 1, []int{0}}, // no test does nothing
		{"", 9, 9, all},
		{"1", 3, 60, all},
		{"1", 0, 60, all},
	} {
		t.Setenv(testreq.EnvFull, tt.env)
		if got := testreq.Rounds(tt.n, 60); got != tt.rounds {
			t.Errorf("%s=%q: Rounds(%d, 60) is %d, want %d", testreq.EnvFull, tt.env, tt.n, got, tt.rounds)
		}
		if diff := cmp.Diff(tt.pick, testreq.Pick(tt.n, all)); diff != "" {
			t.Errorf("%s=%q: Pick(%d) (-want +got):\n%s", testreq.EnvFull, tt.env, tt.n, diff)
		}
	}
}

func TestChecks(t *testing.T) {
	checks := flag.Int("rapid.checks", 100, "as of pgregory.net/rapid, which is not linked here")
	for _, tt := range []struct {
		env  string
		want int
	}{{"1", 100}, {"", 30}} {
		t.Setenv(testreq.EnvFull, tt.env)
		if testreq.Checks(30); *checks != tt.want {
			t.Errorf("%s=%q: %d checks, want %d", testreq.EnvFull, tt.env, *checks, tt.want)
		}
	}
}
