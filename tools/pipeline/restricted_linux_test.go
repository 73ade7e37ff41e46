package pipeline_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"acp-agent/internal/launch"
	"acp-agent/internal/testkit/testreq"
	"acp-agent/permissions"
	"acp-agent/sandbox"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
	"acp-agent/workspace"
	"acp-agent/workspace/run"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == launch.HelperArg {
		// Not os.Exit: the race detector would sleep for a second there.
		syscall.Exit(launch.Helper(os.Args[2:], tellSandbox))
	}
	testreq.Checks(30)
	os.Exit(m.Run())
}

// tellSandbox has a command, in place of what it does, say which sandbox it was to be given.
func tellSandbox(start *launch.Start) error {
	var policy sandbox.Policy
	if err := json.Unmarshal(start.Spec.Policy, &policy); err != nil {
		return err
	}
	start.Argv = []string{"/bin/sh", "-c", "echo the network is closed"}
	if policy.Network {
		start.Argv[2] = "echo the network is open"
	}
	return nil
}

// What a restricted agent starts is kept from the network even where the user left it
// open to all commands, and the card says so.
func TestDelegate_RestrictedNetwork(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const open, closed = "the network is open", "the network is closed"
	tests := []struct {
		name                    string
		leftOpen                bool
		cmd                     string
		main, child, restricted string // what a command has; "" when it is denied
	}{
		{"closed to all", false, "make", closed, closed, closed},
		{"left open to all", true, "make", open, open, closed},
		{"a command that needs it", false, "npm ci", open, open, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t, func(o *pipeline.Options) {
				found := sandbox.NewProbe(func(context.Context) sandbox.Report {
					return sandbox.Report{Kind: sandbox.Landlock, Network: true}
				})
				work, err := workspace.New(workspace.Options{
					SessionID:   "ses_sandbox",
					Directories: workspace.Directories{Cwd: o.Workspace.Session().Cwd, State: filepath.Join(t.TempDir(), "state"), Home: t.TempDir()},
					Protection:  run.Protection{Secret: permissions.Secret},
					Commands:    run.Options{Launcher: &launch.Launcher{Self: self}, Shell: launch.Shell{Path: "/bin/sh"}, Sandbox: run.Sandboxing{Box: &sandbox.Box{Probe: found}, Network: tt.leftOpen}},
				})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { work.Close(0) })
				o.Workspace = work
			})
			for _, agent := range []struct {
				*stage
				want string
			}{
				{s, tt.main},
				{s.delegate("explore", pipeline.PolicyDelegation{}, nil), tt.child},
				{s.delegate("general", pipeline.PolicyDelegation{Restricted: true}, nil), tt.restricted},
			} {
				s.asked, s.answers = nil, []tools.Answer{tools.AllowOnce}
				end := agent.call(t, "bash", object{"cmd": tt.cmd})
				if agent.want == "" {
					want(t, end, transcript.Rejected, permissions.RestrictedNetwork)
					continue
				}
				want(t, end, transcript.Done, agent.want)
				card := "landlock, network off"
				if agent.want == open {
					card = "landlock, network on"
				}
				if len(s.asked) != 1 || s.asked[0].Sandbox != card {
					t.Errorf("%v: asked %+v, want a card with %q", agent.Names, s.asked, card)
				}
			}
		})
	}
}
