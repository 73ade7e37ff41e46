package scripts

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"acp-agent/internal/testkit/acptest"
)

var replayAll = flag.Bool("replay", false, "record and replay every script")

// replayed are the scripts that are recorded and replayed without the flag: one of each kind.
func replayed() []string {
	return []string{"edit_missing_text", "turn_read_edit_bash", "cancel_streaming", "permission_card", "subagent_search", "seed-grida-todo", "mode_plan_exit", "mcp_asks", "stored_load", "job_ends"}
}

// TestReplay records scripts while they are played, and replays the recordings in an empty
// directory: no difference is found.
func TestReplay(t *testing.T) {
	params := scriptParams(t, playRecorded)
	params.Dir = filepath.Join("..", "..", "..", "testdata", "scripts")
	if !*replayAll {
		for _, name := range replayed() {
			params.Files = append(params.Files, filepath.Join(params.Dir, name+".txtar"))
		}
		params.Dir = ""
	}
	testscript.Run(t, params)
}

// playRecorded is play with a recording, which is then replayed.
func playRecorded(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("! play: a client script says itself what must fail")
	}
	tb := &scriptTB{ts: ts}
	dir, options := playOptions(ts, args)
	recordings := tb.TempDir()
	file := filepath.Join(recordings, "recording.jsonl")
	options.Args = []string{"--record", file}
	transcript := acptest.Play(tb, "client", ts.ReadFile("client"), dir, options)
	ts.Check(os.WriteFile(ts.MkAbs("transcript"), []byte(transcript), 0o644))
	if keep := os.Getenv("KEEP_RECORDINGS"); keep != "" {
		data, _ := os.ReadFile(file)
		_ = os.WriteFile(filepath.Join(keep, filepath.Base(ts.Name())+".jsonl"), data, 0o600)
	}
	for ; ; file += acptest.NextRecording {
		if _, err := os.Stat(file); err != nil {
			return
		}
		out, code := runReplay(tb, file)
		if code != 0 {
			ts.Fatalf("replay: exit code %d\n%s", code, out)
		}
		ts.Logf("%s", out)
	}
}

// runReplay replays a recording in an empty home.
func runReplay(tb *scriptTB, file string) (out string, code int) {
	home := tb.TempDir()
	self, err := os.Executable()
	tb.ts.Check(err)
	cmd := exec.Command(self, "replay", file)
	cmd.Dir = home
	cmd.Env = []string{acptest.EnvProgram + "=1", "HOME=" + home, "PATH=/nonexistent", "TMPDIR=" + home, "GORACE=atexit_sleep_ms=0"}
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	_ = cmd.Run() // its exit code says it
	return text.String(), cmd.ProcessState.ExitCode()
}
