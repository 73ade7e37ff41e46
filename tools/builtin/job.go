package builtin

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"acp-agent/internal/textcut"
	"acp-agent/kinds"
	"acp-agent/tools"
)

// Bounds of the wait for the first output of a job.
const (
	// firstQuiet is how long nothing more is to come for it to be the first output.
	firstQuiet = 300 * time.Millisecond
	// firstWait is how long to wait for it at most.
	firstWait = 2 * time.Second
)

// jobsOf are the session's jobs.
func jobsOf(rt tools.Runtime) (tools.Jobs, error) {
	if jobs := rt.Services().Jobs; jobs != nil {
		return jobs, nil
	}
	return nil, tools.Errorf(tools.Unavailable, noJobsHere)
}

const noJobsHere = "commands cannot run in the background here"

// lacksJobs says why a tool for jobs could only fail: the tools are there once there is a job.
func lacksJobs(s tools.Services) string {
	switch {
	case s.Jobs == nil:
		return noJobsHere
	case len(s.Jobs.List()) == 0:
		return "no command was started in the background"
	}
	return ""
}

// startJob starts a command in the background, and returns with its first output. A command
// that has ended by then has a result like any other.
func startJob(ctx context.Context, rt tools.Runtime, a bashArgs) (*tools.Result, error) {
	jobs, err := jobsOf(rt)
	if err != nil {
		return nil, err
	}
	cmd := tools.ShellCommand{Text: a.Cmd, Dir: rt.Session().Abs(a.Cwd)}
	if a.Timeout > 0 {
		cmd.Limit = time.Duration(min(a.Timeout, maxTimeout.Seconds()) * float64(time.Second))
	}
	job, err := jobs.Start(ctx, cmd)
	if err != nil {
		return nil, startFailure(err)
	}
	first, err := jobs.Read(ctx, job.ID, tools.JobWait{Quiet: firstQuiet, Limit: firstWait})
	if ctx.Err() != nil { // the job is what the cancelled call had begun
		_, _ = jobs.Stop(context.WithoutCancel(ctx), job.ID)
	}
	if err != nil {
		return nil, err
	}
	return startedResult(cmd, first, readView(rt, first), ctx.Err() != nil), nil
}

// startedResult is the result of the call that started a job.
func startedResult(cmd tools.ShellCommand, first tools.JobOutput, shown view, cancelled bool) *tools.Result {
	switch {
	case cancelled:
		return bashResult(cmd, shown, nil)
	case first.State == tools.JobExited:
		return bashResult(cmd, shown, &first.Exit)
	}
	data := bashData{Command: cmd.Text, Cwd: cmd.Dir, Output: shown.text, Truncated: shown.cut, Job: first.ID, Ports: kinds.PortNumbers(first.Ports)}
	if first.State != tools.JobRunning {
		data.Notes = first.Exit.Notes
	}
	return &tools.Result{
		Data: data, Background: first.State == tools.JobRunning, Truncated: shown.cut, OutputPath: shown.path,
		Text: fmt.Sprintf("<command>%s</command>\n<working_directory>%s</working_directory>\n<job>%s</job>\n<output>%s</output>\n%s",
			cmd.Text, cmd.Dir, first.ID, shown.body(), howItStands(first.Job)),
		Content: startedCard(shown, first.Job),
	}
}

// readView is output of a job as it is returned: of more than a result may have, the end.
func readView(rt tools.Runtime, out tools.JobOutput) view {
	v := view{text: cleanOutput(out.Text)}
	if out.Skipped > 0 {
		v.cut, v.omitted, v.note = true, out.Skipped, keptIn(out)
	}
	end := textcut.Last(v.text, rt.Session().Limits.ResultBytes)
	if len(end) == len(v.text) {
		return v
	}
	path, note := keepWhole(rt, "unread output", func(w io.Writer) error {
		_, err := io.WriteString(w, out.Text)
		return err
	})
	if v.cut {
		note += ", and " + v.note
	}
	return view{cut: true, text: end, omitted: out.Skipped + int64(len(v.text)-len(end)), path: path, note: note}
}

// keptIn says where what was not read is.
func keptIn(out tools.JobOutput) string {
	if out.File == "" {
		return "it was not kept"
	}
	return fmt.Sprintf("the first %d bytes of all that the job printed are in %s", out.Kept, out.File)
}

// howItStands is the state of a job as the model reads it.
func howItStands(job tools.Job) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<state>%s</state>", job.State)
	if job.State == tools.JobExited {
		fmt.Fprintf(&b, "\n<exit_code>%d</exit_code>", job.Exit.Code)
	}
	if job.Exit.Signal != "" {
		fmt.Fprintf(&b, "\n<signal>%s</signal>", job.Exit.Signal)
	}
	for _, port := range job.Ports {
		fmt.Fprintf(&b, "\n<listens>%s</listens>", portForModel(port))
	}
	for _, note := range job.Exit.Notes {
		fmt.Fprintf(&b, "\n<note>%s</note>", note)
	}
	return b.String()
}

// portForModel says where a port can be reached, and what the user can do about it. No tool
// opens it on the machine.
func portForModel(p kinds.Port) string {
	switch {
	case !p.Inside:
		return fmt.Sprintf("port %d of this machine", p.Number)
	case p.Open > 0:
		return fmt.Sprintf("port %d, for other commands; the user has opened it as 127.0.0.1:%d on their machine", p.Number, p.Open)
	}
	return fmt.Sprintf("port %d, for other commands; the user reaches it once they have typed `/jobs forward %[1]d`", p.Number)
}

// startedCard is what the user sees of the call that started a job, also when that is over.
func startedCard(v view, job tools.Job) []kinds.Content {
	words := stateWords(job)
	if job.State == tools.JobRunning {
		words = "started in the background as " + job.ID
	}
	return outputCard(v, append([]string{words}, beside(job)...))
}

// beside is what else there is to say of a job: on which ports it listens, and how it ended.
func beside(job tools.Job) (lines []string) {
	for _, port := range job.Ports {
		lines = append(lines, "It "+port.String()+".")
	}
	return append(lines, job.Exit.Notes...)
}

// jobCard is what the user sees of a job's output, and of how the job stands.
func jobCard(v view, job tools.Job) []kinds.Content {
	return outputCard(v, append([]string{stateWords(job)}, beside(job)...))
}

func outputCard(v view, words []string) []kinds.Content {
	if output := v.within(cardBytes).body(); strings.TrimSpace(output) != "" {
		words = append([]string{kinds.Fence("console", output)}, words...)
	}
	return []kinds.Content{kinds.Text{Text: strings.Join(words, "\n\n")}}
}

// stateWords is the state of a job as people read it.
func stateWords(job tools.Job) string {
	switch job.State {
	case tools.JobRunning:
		return "runs in the background as " + job.ID
	case tools.JobExpired:
		return job.ID + ": its time was over"
	case tools.JobExited:
		if job.Exit.Signal != "" {
			return job.ID + ": signal " + job.Exit.Signal
		}
		return fmt.Sprintf("%s: exit code %d", job.ID, job.Exit.Code)
	}
	return job.ID + ": " + string(job.State)
}
