//go:build unix

package interop

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"acp-agent/internal/testkit/modeltest"
)

// TestInterop_Quiet has the client of the official SDK cancel a turn and listen for 2 s, while
// the model server lists its models: nothing comes (R153). Then the list comes, once.
func TestInterop_Quiet(t *testing.T) {
	t.Parallel()
	binary := needInterop(t)
	job := newInteropJob(t, binary, interopClient{})
	server := modeltest.New(t, modeltest.Step{Text: "I begin", Stall: 2}, modeltest.Step{Text: "Again."})
	server.Handle("/v1/models", func(w http.ResponseWriter, r *http.Request) {
		for look := time.NewTicker(5 * time.Millisecond); ; <-look.C {
			if _, err := os.Stat(filepath.Join(job.Cwd, "listening")); err == nil || r.Context().Err() != nil {
				break
			}
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"object":"list","data":[{"id":"small"},{"id":"large"}]}`))
	})
	delete(job.Env, "ACP_AGENT_MODEL_SCRIPT")
	job.Env["OPENAI_BASE_URL"], job.Env["OPENAI_MODEL"] = server.URL, "small"
	job.Steps = []interopStep{
		{Do: "prompt", Text: "begin", CancelOn: &interopSight{Update: "agent_message_chunk"}},
		{Do: "listen", Ms: 2000},
		{Do: "listen", Ms: 1000},
		{Do: "prompt", Text: "again"},
	}
	report := drive(t, job)
	judgeLines(t, report)
	if got := updatesOf(t, report, 1); len(got) > 0 {
		t.Errorf("updates within 2 s after the cancelled answer: %q", got)
	}
	late := slices.DeleteFunc(updatesOf(t, report, 2), func(kind string) bool { return kind == "session_info_update" }) // the sandbox
	if !slices.Equal(late, []string{"config_option_update"}) {
		t.Errorf("updates after that: %q", late)
	}
	if stop := report.Steps[3].Result.StopReason; stop != "end_turn" {
		t.Errorf("the next prompt ended with %q", stop)
	}
}

// updatesOf are the kinds of the session updates that came during a step.
func updatesOf(t *testing.T, report *interopReport, step int) []string {
	t.Helper()
	var kinds []string
	for _, line := range report.Lines[report.Steps[step].From:report.Steps[step].To] {
		var message struct {
			Params struct {
				Update struct{ SessionUpdate string }
			}
		}
		if err := json.Unmarshal([]byte(line.Line), &message); err != nil {
			t.Fatal(err)
		}
		if kind := message.Params.Update.SessionUpdate; kind != "" {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}
