package builtin

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/tools/tooltest"
)

func TestJobList(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	jobs := &heldJobs{list: []tools.Job{
		{ID: "job_1", Command: "npm run\ndev", State: tools.JobRunning, Started: at, Printed: 12, Ports: []kinds.Port{
			{Number: 5173, Inside: true}, {Number: 8080, Inside: true, Open: 9090}, {Number: 9229},
		}},
		{ID: "job_2", Command: "make", State: tools.JobExited, Exit: tools.Exit{Code: 2}, Started: at},
		{ID: "job_3", Command: "watch", State: tools.JobStopped, Started: at},
	}}
	result, err := withJobs(jobs).Run(t.Context(), newJobList(), "job_list", `{}`)
	if err != nil {
		t.Fatal(err)
	}
	want := `job_1 (running): npm run dev [since 2026-11-26T12:00:00Z, printed: 12 bytes]
  port 5173, for other commands; the user reaches it once they have typed ` + "`/jobs forward 5173`" + `
  port 8080, for other commands; the user has opened it as 127.0.0.1:9090 on their machine
  port 9229 of this machine
job_2 (exit code 2): make [since 2026-11-26T12:00:00Z, printed: 0 bytes]
job_3 (stopped): watch [since 2026-11-26T12:00:00Z, printed: 0 bytes]`
	if diff := cmp.Diff(want, result.Text); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	shown := result.Content[0].(kinds.Text).Text
	for _, line := range []string{"`/jobs forward 5173` opens it on this machine", "open on this machine at 127.0.0.1:9090", "listens on port 9229 of this machine"} {
		if !strings.Contains(shown, line) {
			t.Errorf("the card lacks %q: %s", line, shown)
		}
	}
	if got := result.Data.(jobListData).Jobs[0].Ports; !slices.Equal(got, []int{5173, 8080, 9229}) {
		t.Errorf("ports %v", got)
	}
	if data := result.Data.(jobListData); len(data.Jobs) != 3 || data.Jobs[0].ExitCode != nil || *data.Jobs[1].ExitCode != 2 {
		t.Errorf("data %+v", data)
	}
	wantFailure(t, tooltest.New(tooltest.Options{}), newJobList(), `{}`, tools.Unavailable, noJobsHere)
}

// TestJobTools_Lack: the tools for jobs are there once there is a job.
func TestJobTools_Lack(t *testing.T) {
	t.Parallel()
	for _, tool := range []tools.Tool{newJobOutput(), newJobStop(), newJobList()} {
		if tool.Lacks(tools.Services{}) == "" || tool.Lacks(tools.Services{Jobs: &heldJobs{}}) == "" {
			t.Errorf("%s is there without a job", tool.ID)
		}
		if lacks := tool.Lacks(tools.Services{Jobs: &heldJobs{list: []tools.Job{{}}}}); lacks != "" {
			t.Errorf("%s lacks with a job: %s", tool.ID, lacks)
		}
	}
}
