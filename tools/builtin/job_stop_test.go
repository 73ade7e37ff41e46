package builtin

import (
	"testing"

	"acp-agent/tools"
	"acp-agent/tools/tooltest"
)

func TestJobStop(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		jobs heldJobs
		want string
	}{
		{"one that runs", heldJobs{}, "job_1 was stopped"},
		{"one that has ended", heldJobs{list: []tools.Job{{ID: "job_1", State: tools.JobExited, Exit: tools.Exit{Code: 2}}}}, "job_1: exit code 2; it had ended before"},
		{"one that a signal ended", heldJobs{list: []tools.Job{{ID: "job_1", State: tools.JobExited, Exit: tools.Exit{Signal: "SIGSEGV"}}}}, "job_1: signal SIGSEGV; it had ended before"},
		{"one whose time was over", heldJobs{list: []tools.Job{{ID: "job_1", State: tools.JobExpired}}}, "job_1: its time was over; it had ended before"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			result, err := withJobs(&tt.jobs).Run(t.Context(), newJobStop(), "KillShell", `{"shell_id":"job_1"}`)
			if err != nil || result.Text != tt.want {
				t.Errorf("result %+v, %v; want %q", result, err, tt.want)
			}
			if len(tt.jobs.stopped) != 1 {
				t.Errorf("stopped %q", tt.jobs.stopped)
			}
		})
	}
	wantFailure(t, withJobs(&heldJobs{}), newJobStop(), `{"job":"job_9"}`, tools.BadInput, "there is no job")
	wantFailure(t, tooltest.New(tooltest.Options{}), newJobStop(), `{"job":"job_1"}`, tools.Unavailable, noJobsHere)
}
