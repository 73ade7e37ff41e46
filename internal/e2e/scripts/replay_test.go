package scripts

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/agenttest"
	"acp-agent/internal/testkit/testreq"
)

var replayAll = flag.Bool("replay", false, "record and replay every script")

// replayed are the scripts that are recorded and replayed without the flag: one of each kind, or
// half of them in the short form.
func replayed() []string {
	return testreq.Pick(3, []string{"edit_missing_text", "turn_read_edit_bash", "cancel_streaming", "permission_card", "subagent_search", "seed-grida-todo", "mode_plan_exit", "mcp_asks", "stored_load", "job_ends", "permission_together", "steering", "subagent_job", "notice_between_pieces", "audit_hosts"})
}

// TestReplay records scripts while they are played, and replays the recordings in an empty
// directory: no difference is found.
func TestReplay(t *testing.T) {
	t.Parallel()
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
		out, code := agenttest.Replay(tb, file)
		if code != 0 {
			ts.Fatalf("replay: exit code %d\n%s", code, out)
		}
		ts.Logf("%s", out)
	}
}
