//go:build linux || darwin

package launch

import (
	"os/exec"
	"testing"
)

// BenchmarkTrue measures one command from start to a tree that is gone. The
// floor beside it is the same shell without a helper.
func BenchmarkTrue(b *testing.B) {
	s := spec(b, "true")
	b.Run("floor", func(b *testing.B) {
		for b.Loop() {
			argv := s.argv()
			cmd := exec.Command(argv[0], argv[1:]...)
			cmd.Env, cmd.Dir = s.Env, s.Dir
			if err := cmd.Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	l := launcher(b)
	run := func(b *testing.B, s Spec) {
		for b.Loop() {
			p, err := l.StartStreams(b.Context(), s, Streams{Output: newOutput()})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := p.Wait(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("helper", func(b *testing.B) { run(b, s) })
	s.Limits = Limits{CPU: 600, FileSize: 1 << 32, Processes: 4096}
	b.Run("helper with limits", func(b *testing.B) { run(b, s) })
	s = spec(b, "sleep 60 & true")
	b.Run("helper with leftover", func(b *testing.B) { run(b, s) })
}
