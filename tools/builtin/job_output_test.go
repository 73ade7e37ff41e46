package builtin

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/tools/tooltest"
)

// heldJobs are jobs without processes: one is started, and answers what a test says.
type heldJobs struct {
	list    []tools.Job
	output  tools.JobOutput // of the next Read
	started tools.ShellCommand
	asked   tools.JobWait
	stopped []string
	err     error // of Start
}

func (h *heldJobs) Start(_ context.Context, cmd tools.ShellCommand) (tools.Job, error) {
	h.started = cmd
	return tools.Job{ID: "job_1", Command: cmd.Text, Dir: cmd.Dir, State: tools.JobRunning}, h.err
}

func (h *heldJobs) Read(_ context.Context, id string, until tools.JobWait) (tools.JobOutput, error) {
	h.asked = until
	if id != "job_1" {
		return tools.JobOutput{}, tools.Errorf(tools.BadInput, "there is no job %q", id)
	}
	return h.output, nil
}

func (h *heldJobs) Stop(_ context.Context, id string) (tools.Job, error) {
	if id != "job_1" {
		return tools.Job{}, tools.Errorf(tools.BadInput, "there is no job %q", id)
	}
	h.stopped = append(h.stopped, id)
	if len(h.list) > 0 {
		return h.list[0], nil
	}
	return tools.Job{ID: id, State: tools.JobStopped}, nil
}

func (h *heldJobs) List() []tools.Job { return h.list }

func withJobs(jobs tools.Jobs) *tooltest.Runtime {
	rt := tooltest.New(tooltest.Options{})
	rt.Serve.Jobs = jobs
	return rt
}

func running(text string) tools.JobOutput {
	return tools.JobOutput{Job: tools.Job{ID: "job_1", State: tools.JobRunning}, Text: text}
}

func TestJobOutput(t *testing.T) {
	t.Parallel()
	exited := tools.JobOutput{Job: tools.Job{ID: "job_1", State: tools.JobExited, Exit: tools.Exit{Code: 3, Notes: []string{"a note"}}}, Text: "bye\n"}
	matched := running("ready\n")
	matched.Matched = true
	skipped := running("end\n")
	skipped.Skipped, skipped.File, skipped.Kept = 100, "/scratch/out", 40
	serving := running("ready\n")
	serving.Ports = []kinds.Port{{Number: 5173, Inside: true}}
	lost := skipped
	lost.File = ""
	tests := []struct {
		name, args string
		output     tools.JobOutput
		asked      tools.JobWait
		text, card string
	}{
		{
			"what is there", `{"job":"job_1"}`, running("a\x1b[31mb\n"),
			tools.JobWait{},
			"<job>job_1</job>\n<output>ab\n</output>\n<state>running</state>", "```console\nab\n```\n\nruns in the background as job_1",
		},
		{
			"the end", `{"job":"job_1","wait":1000}`, exited,
			tools.JobWait{Limit: maxJobWait},
			"<job>job_1</job>\n<output>bye\n</output>\n<state>exited</state>\n<exit_code>3</exit_code>\n<note>a note</note>",
			"```console\nbye\n```\n\njob_1: exit code 3\n\na note",
		},
		{
			"a pattern", `{"job":"job_1","pattern":"^r"}`, matched,
			tools.JobWait{Limit: patternWait},
			"<job>job_1</job>\n<output>ready\n</output>\n<state>running</state>\n<pattern_matched>true</pattern_matched>",
			"```console\nready\n```\n\nruns in the background as job_1",
		},
		{
			"a port", `{"job":"job_1"}`, serving,
			tools.JobWait{},
			"<job>job_1</job>\n<output>ready\n</output>\n<state>running</state>\n<listens>port 5173, for other commands; the user reaches it once they have typed `/jobs forward 5173`</listens>",
			"```console\nready\n```\n\nruns in the background as job_1\n\nIt listens on port 5173 in the sandbox; `/jobs forward 5173` opens it on this machine.",
		},
		{
			"no pattern in time", `{"job":"job_1","pattern":"x","wait":2}`, running(""),
			tools.JobWait{Limit: 2 * time.Second},
			"<job>job_1</job>\n<output></output>\n<state>running</state>\n<pattern_matched>false</pattern_matched>",
			"runs in the background as job_1",
		},
		{
			"more than is kept", `{"job":"job_1"}`, skipped,
			tools.JobWait{},
			"<job>job_1</job>\n<output>[100 bytes of output left out here; the first 40 bytes of all that the job printed are in /scratch/out]\nend\n</output>\n<state>running</state>",
			"```console\n[100 bytes of output left out here; the first 40 bytes of all that the job printed are in /scratch/out]\nend\n```\n\nruns in the background as job_1",
		},
		{
			"more than is kept, and no file", `{"job":"job_1"}`, lost,
			tools.JobWait{},
			"<job>job_1</job>\n<output>[100 bytes of output left out here; it was not kept]\nend\n</output>\n<state>running</state>",
			"```console\n[100 bytes of output left out here; it was not kept]\nend\n```\n\nruns in the background as job_1",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			jobs := &heldJobs{output: tt.output}
			result, err := withJobs(jobs).Run(t.Context(), newJobOutput(), "job_output", tt.args)
			if err != nil {
				t.Fatal(err)
			}
			if hasPattern := strings.Contains(tt.args, "pattern"); hasPattern != (jobs.asked.Pattern != nil) {
				t.Errorf("waits for the pattern %v", jobs.asked.Pattern)
			}
			if jobs.asked.Limit != tt.asked.Limit || jobs.asked.Quiet != 0 {
				t.Errorf("waits as %+v, want %+v", jobs.asked, tt.asked)
			}
			if diff := cmp.Diff(tt.text, result.Text); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]kinds.Content{kinds.Text{Text: tt.card}}, result.Content); diff != "" {
				t.Errorf("card (-want +got):\n%s", diff)
			}
		})
	}
}

func TestJobOutput_Refuses(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		`{"job":"job_2"}`:               `there is no job "job_2"`,
		`{"job":"job_1","pattern":"("}`: "missing closing )",
		`{"job":"job_1","pattern":"` + strings.Repeat("x", maxPattern+1) + `"}`: "longer than 1000 bytes",
		`{"job":"job_1","filter":"x"}`:                                          "all lines are returned",
	} {
		wantFailure(t, withJobs(&heldJobs{}), newJobOutput(), args, tools.BadInput, want)
	}
	wantFailure(t, tooltest.New(tooltest.Options{}), newJobOutput(), `{"job":"job_1"}`, tools.Unavailable, noJobsHere)
}

// TestJobOutput_End: of more than a result may have, the end is returned, and the rest kept.
func TestJobOutput_End(t *testing.T) {
	t.Parallel()
	out := running(strings.Repeat("é", 100_000) + "the end")
	out.Skipped, out.File, out.Kept = 50, "/scratch/out", 40
	rt := withJobs(&heldJobs{output: out})
	result, err := rt.Run(t.Context(), newJobOutput(), "job_output", `{"job":"job_1"}`)
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Text) > tools.CanonicalLimits().ResultBytes+1000 || !strings.HasSuffix(result.Text, "the end</output>\n<state>running</state>") {
		t.Errorf("%d bytes that end with %q", len(result.Text), result.Text[len(result.Text)-100:])
	}
	if want := "bytes of output left out here; the whole unread output is in " + result.OutputPath + ", and the first 40 bytes of all"; !strings.Contains(result.Text, want) {
		t.Errorf("the beginning is %.300q", result.Text)
	}
	if rt.Sidecars()[result.OutputPath] != out.Text || !result.Truncated {
		t.Error("the whole is not in the file")
	}
}

// TestJobOutput_Accepts: the calls of other agents.
func TestJobOutput_Accepts(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		`{"bash_id":"job_1"}`:                               `{"job":"job_1"}`,
		`{"task_id":"job_1","block":true,"timeout":5000}`:   `{"job":"job_1","wait":5}`,
		`{"task_id":"job_1","block":false,"timeout":5000}`:  `{"job":"job_1"}`,
		`{"task_id":"job_1","block":true}`:                  `{"job":"job_1","wait":30}`,
		`{"job":"job_1","timeout_ms":500}`:                  `{"job":"job_1","wait":0.5}`,
		`{"job":"job_1","regex":"ready","wait_seconds":20}`: `{"job":"job_1","pattern":"ready","wait":20}`,
	} {
		_, ready, err := tooltest.Prepare(newJobOutput(), "job_output", args, tools.Env{})
		if err != nil || string(ready.Raw()) != want {
			t.Errorf("%s is %s, %v; want %s", args, ready.Raw(), err, want)
		}
	}
}

// TestBash_Background: a command in the background ends its call with its id and first output.
func TestBash_Background(t *testing.T) {
	t.Parallel()
	exited := tools.JobOutput{Job: tools.Job{ID: "job_1", State: tools.JobExited, Exit: tools.Exit{Code: 1}}, Text: "no\n"}
	tests := []struct {
		name, args string
		output     tools.JobOutput
		want       string
		background bool
		limit      time.Duration
	}{
		{
			"it goes on", `{"cmd":"serve","background":true}`, running("ready\n"),
			"<command>serve</command>\n<working_directory>/test-workspace</working_directory>\n<job>job_1</job>\n<output>ready\n</output>\n<state>running</state>", true, 0,
		},
		{
			"with a time", `{"cmd":"serve","is_background":true,"timeout":60}`, running(""),
			"<command>serve</command>\n<working_directory>/test-workspace</working_directory>\n<job>job_1</job>\n<output></output>\n<state>running</state>", true, time.Minute,
		},
		{
			"it ends at once", `{"cmd":"serve","Blocking":false}`, exited,
			"<command>serve</command>\n<working_directory>/test-workspace</working_directory>\n<output>no\n</output>\n<exit_code>1</exit_code>", false, 0,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			jobs := &heldJobs{output: tt.output}
			result, err := withJobs(jobs).Run(t.Context(), newBash(), "bash", tt.args)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, result.Text); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
			if result.Background != tt.background || jobs.started.Limit != tt.limit || jobs.asked.Quiet != firstQuiet {
				t.Errorf("background %t, started %+v, waited %+v", result.Background, jobs.started, jobs.asked)
			}
		})
	}
	bash := newBash()
	card := bash.Card(tools.NewArgs(`{"cmd":"serve","background":true}`), kinds.Place{})
	if card.Title != "serve &" {
		t.Errorf("the title is %q", card.Title)
	}
	wantFailure(t, tooltest.New(tooltest.Options{}), newBash(), `{"cmd":"serve","background":true}`, tools.Unavailable, noJobsHere)
	full := &heldJobs{err: tools.Errorf(tools.Unavailable, "32 jobs run in the background, and no more may")}
	wantFailure(t, withJobs(full), newBash(), `{"cmd":"serve","background":true}`, tools.Unavailable, "no more may")
}

// readCancelled cancels the call during its first Read.
type readCancelled struct {
	heldJobs
	cancel func()
}

func (r *readCancelled) Read(ctx context.Context, id string, until tools.JobWait) (tools.JobOutput, error) {
	r.cancel()
	return r.heldJobs.Read(ctx, id, until)
}

// TestBash_BackgroundCancelled: a call that is cancelled before it has answered takes its job
// with it.
func TestBash_BackgroundCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	jobs := &readCancelled{heldJobs{output: running("so far\n")}, cancel}
	result, err := withJobs(jobs).Run(ctx, newBash(), "bash", `{"cmd":"serve","background":true}`)
	if err != nil || !result.Partial || result.Background || !strings.Contains(result.Text, "so far") {
		t.Errorf("the result is %+v, %v", result, err)
	}
	if diff := cmp.Diff([]string{"job_1"}, jobs.stopped); diff != "" {
		t.Errorf("stopped (-want +got):\n%s", diff)
	}
}

// TestBash_NoJobs: where no command may go on in the background, one that is to is refused before it
// is judged, and any other is not.
func TestBash_NoJobs(t *testing.T) {
	t.Parallel()
	env := tools.Env{Place: kinds.Place{Cwd: "/work"}, NoJobs: true}
	err := preprocessBash(map[string]any{"cmd": "npm run dev", "background": true}, env)
	if failure, ok := errors.AsType[*tools.Error](err); !ok || failure.Kind != tools.Unavailable || failure.Message != noJobsHere {
		t.Errorf("in the background: %v", err)
	}
	for _, args := range []map[string]any{{"cmd": "make"}, {"cmd": "make", "background": false}} {
		if err := preprocessBash(args, env); err != nil {
			t.Errorf("%v: %v", args, err)
		}
	}
}
