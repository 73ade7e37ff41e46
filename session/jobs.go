package session

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"acp-agent/audit"
	"acp-agent/internal/record"
	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/transcript"
	"acp-agent/workspace/run"
)

// jobs reports the session's commands in the background: their output to the editor while they run,
// their end to the model and the user. workspace/run has the processes; jobs_command.go has /jobs. It
// is safe for concurrent use.
type jobs struct {
	conversation *conversation
	tape         *record.Tape
	logger       *slog.Logger
	// running are the jobs of the workspace. It is set once, when the workspace is open.
	running *run.Jobs
	// audit has the ports that the user opens; nil when none is kept. It is set once, before any job starts.
	audit *audit.Log
	// report puts a message about a job into the conversation.
	report func(synthetic)

	mu      sync.Mutex // guards started
	started []string   // ids of the main agent's jobs since the last turn ended
}

// Bounds of what is reported about jobs.
const (
	jobRunes  = 120 // of a command
	namedJobs = 10  // at the end of the turn that started them
)

// The names under which jobs are stored and recorded.
const (
	jobsKey  = "jobs"
	jobEvent = "job"
)

// storedJobs are the jobs as a session stores them: the running ones, so that the process that resumes
// the session can say that they have ended.
type storedJobs struct {
	Last    int         `json:"last"`
	Running []storedJob `json:"running,omitempty"`
}

type storedJob struct{ ID, Command string }

// jobHappened is how a recording keeps an event of a job, with the message about its end.
type jobHappened struct {
	Event         json.RawMessage
	Job           string `json:",omitempty"`
	Message, Text string `json:",omitempty"`
}

func (j *jobs) hooks() run.JobHooks {
	return run.JobHooks{Started: j.onStart, Printed: j.onOutput, Listens: j.onListens, Forwards: j.onForward, Ended: j.onEnd}
}

func (j *jobs) onStart(job tools.Job) {
	j.save()
	if job.Agent != "" {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.started = append(j.started, job.ID)
}

func (j *jobs) onOutput(job tools.Job, text string) {
	j.happened(transcript.JobOutput{CallID: job.CallID, Text: text}, jobHappened{})
}

func (j *jobs) onListens(job tools.Job) {
	j.happened(transcript.JobListens{CallID: job.CallID, Ports: job.Ports}, jobHappened{})
}

// onForward records in the audit that a port of a job is open on the machine, or closed again (R129, L1).
func (j *jobs) onForward(f run.Forwarding) {
	record := audit.Record{
		Event: audit.Closed, Call: f.Job.CallID, Touches: []string{fmt.Sprintf("127.0.0.1:%d", f.HostPort)},
		Reason: fmt.Sprintf("port %d of %s", f.Port, f.Job.ID), By: "the end of the job",
	}
	if f.ByUser {
		record.By = "person: /jobs forward stop"
	}
	if f.Open {
		record.Event, record.By = audit.Opened, "person: /jobs forward"
	}
	j.audit.Append(record)
}

// onEnd reports that a job has ended. A subagent learns it with its next request, from news.
func (j *jobs) onEnd(job tools.Job) {
	j.save()
	var said jobHappened
	if job.Agent == "" {
		said = jobHappened{Job: job.ID, Message: endedMessage(job), Text: fmt.Sprintf("%s has ended: %s.", kinds.Code(job.Command, jobRunes), howEnded(job))}
	}
	end := transcript.JobEnded{CallID: job.CallID, State: string(job.State), ExitCode: job.Exit.Code, Signal: job.Exit.Signal}
	j.happened(end, said)
}

// happened records an event of a job, and shows it.
func (j *jobs) happened(e transcript.Event, said jobHappened) {
	if j.tape.Records() {
		if data, err := transcript.EncodeEvent(e); err == nil {
			said.Event = data
			if data, err = json.Marshal(said); err == nil {
				j.tape.Happened(j.conversation.sessionID, jobEvent, data)
			}
		}
	}
	j.show(e, said)
}

// show shows an event of a job, and puts the message about its end, if it is one, into the conversation.
func (j *jobs) show(e transcript.Event, said jobHappened) {
	j.conversation.pass(e)
	if said.Message == "" {
		return
	}
	ready := make(chan struct{})
	close(ready)
	j.report(synthetic{
		message: j.conversation.newReport(said.Message), text: said.Text, after: ready, early: true,
		stale: func() bool { return j.running.EndReported(said.Job) },
	})
}

// play shows what a recording has of a job.
func (j *jobs) play(data []byte) {
	var said jobHappened
	if json.Unmarshal(data, &said) != nil {
		return
	}
	e, err := transcript.DecodeEvent(said.Event)
	if err != nil {
		j.logger.Warn("a recorded event of a job cannot be played", "error", err.Error())
		return
	}
	if end, ok := e.(transcript.JobEnded); ok {
		j.running.PlayEnd(end.CallID, tools.JobState(end.State))
	}
	j.show(e, said)
}

// endedMessage tells the model that a job has ended. It quotes none of the output, which could pass for
// a statement of the agent.
func endedMessage(job tools.Job) string {
	return fmt.Sprintf("The command in the background %s has ended: %s. job_output has what it printed since you last read it.",
		jobName(job.ID, job.Command), howEnded(job))
}

// howEnded is the state of a job that has ended, as a part of a sentence.
func howEnded(job tools.Job) string {
	switch job.State {
	case tools.JobStopped:
		return "it was stopped"
	case tools.JobExpired:
		return "its time was over"
	case tools.JobExited:
		if job.Exit.Signal != "" {
			return "signal " + kinds.Line(job.Exit.Signal, jobRunes)
		}
		return fmt.Sprintf("exit code %d", job.Exit.Code)
	}
	return "it failed"
}

// news returns reminders for a subagent: which of its jobs have ended since the last call.
func (j *jobs) news(agent string) (parts []transcript.Part) {
	for _, job := range j.running.ReportEnded(agent) {
		parts = append(parts, &transcript.TextPart{Text: endedMessage(job), Synthetic: true})
	}
	return parts
}

// nameStarted names, at the end of a turn, the jobs that the turn started and that still run.
func (j *jobs) nameStarted() {
	if names := record.Value(j.tape, "jobs begun", j.conversation.sessionID, j.popStarted); len(names) > 0 {
		j.conversation.say("Running in the background: " + strings.Join(names, ", ") + ". `/jobs` lists and stops them.\n")
	}
}

// popStarted names the jobs of the main agent that started since the last call and still run.
func (j *jobs) popStarted() (names []string) {
	j.mu.Lock()
	ids := j.started
	j.started = nil
	j.mu.Unlock()
	for _, job := range j.running.View("").List() {
		if job.State == tools.JobRunning && slices.Contains(ids, job.ID) {
			names = append(names, jobName(job.ID, job.Command))
		}
	}
	return firstOf(names, namedJobs)
}

// jobName is how users and models read a job.
func jobName(id, command string) string {
	return fmt.Sprintf("%s (%s)", id, kinds.Code(command, jobRunes))
}

// close tells the editor that the jobs end with the session, which stops their processes next. They
// stay stored as running, so that a resumed session says that they ended.
func (j *jobs) close() {
	for _, job := range j.running.Close() {
		j.conversation.pass(transcript.JobEnded{CallID: job.CallID, State: string(tools.JobStopped)})
	}
}

// cancelCall ends the job of a call, and reports whether there was one.
func (j *jobs) cancelCall(callID string) bool {
	return record.Value(j.tape, "job of a call", callID, func() bool { return j.running.StopCall(callID) })
}

// save stores which jobs run.
func (j *jobs) save() {
	now := storedJobs{Last: j.running.Last()}
	for _, job := range j.running.View("").List() {
		if job.State == tools.JobRunning {
			now.Running = append(now.Running, storedJob{job.ID, kinds.Line(job.Command, jobRunes)})
		}
	}
	j.conversation.archive.put(jobsKey, now)
}

// resume says in a resumed session that its jobs have ended with the process.
func (j *jobs) resume() {
	var had storedJobs
	if found, err := j.conversation.archive.get(jobsKey, &had); err != nil || !found {
		return
	}
	j.running.Resume(had.Last)
	if len(had.Running) == 0 {
		return
	}
	var names []string
	for _, job := range had.Running {
		names = append(names, jobName(job.ID, job.Command))
	}
	text := "These commands in the background ended when the process of the agent ended, and what they printed is gone: " + strings.Join(names, ", ") + "."
	j.conversation.record(transcript.AgentSaid{Message: j.conversation.newReport(text)})
	j.save()
}
