package builtin

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/tools"
	"acp-agent/tools/tooltest"
)

func TestJobList(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	jobs := &heldJobs{list: []tools.Job{
		{ID: "job_1", Command: "npm run\ndev", State: tools.JobRunning, Started: at, Printed: 12},
		{ID: "job_2", Command: "make", State: tools.JobExited, Exit: tools.Exit{Code: 2}, Started: at},
		{ID: "job_3", Command: "watch", State: tools.JobStopped, Started: at},
	}}
	result, err := withJobs(jobs).Run(t.Context(), newJobList(), "job_list", `{}`)
	if err != nil {
		t.Fatal(err)
	}
	want := `job_1 (running): npm run dev [since 2026-11-26T12:00:00Z, printed: 12 bytes]
job_2 (exit code 2): make [since 2026-11-26T12:00:00Z, printed: 0 bytes]
job_3 (stopped): watch [since 2026-11-26T12:00:00Z, printed: 0 bytes]`
	if diff := cmp.Diff(want, result.Text); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
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
