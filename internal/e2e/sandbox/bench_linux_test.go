package sandbox

import (
	"os"
	"testing"

	"acp-agent/internal/launch"
	"acp-agent/internal/testkit/testreq"
	"acp-agent/sandbox"
	"acp-agent/tools"
	"acp-agent/workspace"
	runner "acp-agent/workspace/run"
)

// BenchmarkSandbox measures one command from its start to a tree that is gone, with
// none and with each kind of sandbox, in the home that the benchmark runs in, and the same
// of one that only reads.
func BenchmarkSandbox(b *testing.B) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		b.Fatal(err)
	}
	for _, level := range []sandbox.Kind{sandbox.None, sandbox.Landlock, sandbox.Bubblewrap, sandbox.Namespaces} {
		b.Run(string(level), func(b *testing.B) {
			l := &launch.Launcher{Self: self}
			finder := sandbox.Finder{Launcher: l, Dir: b.TempDir(), Level: level}
			state := b.TempDir()
			work, err := workspace.New(workspace.Options{
				SessionID:   "bench",
				Directories: workspace.Directories{Cwd: b.TempDir(), State: state + "/sessions", Home: home},
				Commands: runner.Options{Launcher: l, Environ: os.Environ(), Sandbox: runner.Sandboxing{Level: level, Box: &sandbox.Box{
					Probe: sandbox.NewProbe(finder.Find), Home: home, Own: []string{state}, Environ: os.Environ(), CacheDir: b.TempDir(),
				}}},
			})
			if err != nil {
				b.Fatal(err)
			}
			defer work.Close(0)
			if report, _, err := work.Runner().Sandbox(b.Context()); err != nil || report.Refused != "" {
				testreq.Skip(b, report.Refused)
			}
			call := work.Call("call", "bash", nil)
			defer call.Finish()
			for name, grant := range map[string]runner.Grant{"writing": {}, "reading": {ReadsOnly: true, Reading: true, Offline: true}} {
				b.Run(name, func(b *testing.B) {
					call.Commands().Grant(grant)
					for b.Loop() {
						if exit, err := call.Processes().Run(b.Context(), tools.ShellCommand{Text: "true"}, nil); err != nil || exit.Code != 0 {
							b.Fatal(exit, err)
						}
					}
				})
			}
		})
	}
}
