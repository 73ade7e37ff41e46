package session

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"acp-agent/internal/record"
	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/transcript"
	"acp-agent/workspace/run"
)

// jobs says what becomes of the session's commands in the background: to the editor while they
// run, to the model and the user when they end. The processes are those of the workspace. It is
// safe for concurrent use.
type jobs struct {
	sessionID    string
	conversation *conversation
	ids          *transcript.IDs
	tape         *record.Tape
	logger       *slog.Logger
	// running are those of the workspace; it is set when that is open.
	running *run.Jobs
	// report puts a message about a job into the conversation.
	report func(synthetic)

	mu    sync.Mutex
	begun []string // ids of the jobs that this turn started, for its end
}

// Bounds of what is said of jobs.
const (
	jobRunes  = 120 // of a command
	namedJobs = 10  // that a turn has started
)

// The names under which jobs are stored and recorded.
const (
	jobsKey  = "jobs"
	jobEvent = "job"
)

// storedJobs are the jobs as a session stores them: the running ones, for the process that goes on
// with the session to say that they have ended.
type storedJobs struct {
	Last    int         `json:"last"`
	Running []storedJob `json:"running,omitempty"`
}

type storedJob struct{ ID, Command string }

// jobHappened is what a recording keeps of an event of a job, with what is said of its end.
type jobHappened struct {
	Event         json.RawMessage
	Job           string `json:",omitempty"`
	Message, Text string `json:",omitempty"`
}

func (j *jobs) hooks() run.JobHooks {
	return run.JobHooks{Started: j.started, Printed: j.printed, Ended: j.ended}
}

func (j *jobs) started(job tools.Job) {
	j.save()
	if job.Agent != "" {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.begun = append(j.begun, job.ID)
}

func (j *jobs) printed(job tools.Job, text string) {
	j.happened(transcript.JobOutput{CallID: job.CallID, Text: text}, jobHappened{})
}

// ended says that a job has ended. A subagent is told with its next request, see news.
func (j *jobs) ended(job tools.Job) {
	j.save()
	var said jobHappened
	if job.Agent == "" {
		said = jobHappened{Job: job.ID, Message: endedMessage(job), Text: fmt.Sprintf("%s has ended: %s.", kinds.Code(job.Command, jobRunes), howEnded(job))}
	}
	end := transcript.JobEnded{CallID: job.CallID, State: string(job.State), ExitCode: job.Exit.Code, Signal: job.Exit.Signal}
	j.happened(end, said)
}

// happened shows an event of a job, and reports its end.
func (j *jobs) happened(e transcript.Event, said jobHappened) {
	if j.tape.Records() {
		if data, err := transcript.EncodeEvent(e); err == nil {
			said.Event = data
			if data, err = json.Marshal(said); err == nil {
				j.tape.Happened(j.sessionID, jobEvent, data)
			}
		}
	}
	j.show(e, said)
}

func (j *jobs) show(e transcript.Event, said jobHappened) {
	j.conversation.pass(e)
	if said.Message == "" {
		return
	}
	ready := make(chan struct{})
	close(ready)
	j.report(synthetic{
		message: &transcript.Message{
			ID: j.ids.New(transcript.MessagePrefix), Role: transcript.Assistant, Created: time.Now(), Synthetic: true,
			Parts: []transcript.Part{&transcript.TextPart{ID: j.ids.New(transcript.PartPrefix), Synthetic: true, Text: said.Message}},
		},
		text: said.Text, after: ready, early: true,
		stale: func() bool { return j.running.Told(said.Job) },
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

// endedMessage is what the model is told of a job that has ended. It has nothing of the output,
// which is data.
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

// news is what a subagent has to be told of its jobs before its next request.
func (j *jobs) news(agent string) (parts []transcript.Part) {
	for _, job := range j.running.TakeEnded(agent) {
		parts = append(parts, &transcript.TextPart{Text: endedMessage(job), Synthetic: true})
	}
	return parts
}

// noticeBegun names, at the end of a turn, the jobs that it started and that still run.
func (j *jobs) noticeBegun() {
	if names := record.Value(j.tape, "jobs begun", j.sessionID, j.takeBegun); len(names) > 0 {
		j.conversation.say("Running in the background: " + strings.Join(names, ", ") + ". `/jobs` lists and stops them.\n")
	}
}

// takeBegun returns the jobs of the main agent that started since the last call and still run.
func (j *jobs) takeBegun() (names []string) {
	j.mu.Lock()
	begun := j.begun
	j.begun = nil
	j.mu.Unlock()
	for _, job := range j.running.View("").List() {
		if job.State == tools.JobRunning && slices.Contains(begun, job.ID) {
			names = append(names, jobName(job.ID, job.Command))
		}
	}
	if over := len(names) - namedJobs; over > 0 {
		names = append(names[:namedJobs], fmt.Sprintf("and %d more", over))
	}
	return names
}

// jobName is a job as people and models read it.
func jobName(id, command string) string {
	return fmt.Sprintf("%s (%s)", id, kinds.Code(command, jobRunes))
}

// close shows that the jobs end with the session, which stops them next. They stay stored as
// running, so that the session says so when it goes on.
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

// resume says in a stored session that its jobs have ended with the process.
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
	j.conversation.record(transcript.AgentSaid{Message: &transcript.Message{
		ID: j.ids.New(transcript.MessagePrefix), Role: transcript.Assistant, Created: time.Now(), Synthetic: true,
		Parts: []transcript.Part{&transcript.TextPart{
			ID: j.ids.New(transcript.PartPrefix), Synthetic: true,
			Text: "These commands in the background ended when the process of the agent ended, and what they printed is gone: " + strings.Join(names, ", ") + ".",
		}},
	}})
	j.save()
}

// jobsForms are the words that may follow /jobs.
const jobsForms = "stop NUMBER | stop all"

// command lists the jobs of the session, or stops some of them.
func (j *jobs) command(words []string) string {
	switch {
	case len(words) == 0:
		return j.list()
	case len(words) == 2 && words[0] == "stop":
		return j.stop(words[1])
	}
	return "`/jobs` lists the commands in the background. After it may follow: `" + jobsForms + "`.\n"
}

func (j *jobs) list() string {
	all := j.running.View("").List()
	if len(all) == 0 {
		return "No command was started in the background in this session.\n"
	}
	var b strings.Builder
	now, running := time.Now(), 0
	for _, job := range all {
		state := howEnded(job)
		if job.State == tools.JobRunning {
			running++
			state = "running"
		}
		if job.Agent != "" {
			state += ", of a subagent"
		}
		fmt.Fprintf(&b, "- **%s** %s: %s; %s, %d bytes printed\n", job.ID, kinds.Code(job.Command, jobRunes), state, job.Elapsed(now).Truncate(time.Second), job.Printed)
	}
	head := fmt.Sprintf("**Commands in the background**: %d running, %d ended\n\n", running, len(all)-running)
	if running > 0 {
		b.WriteString("\n`/jobs stop NUMBER` stops one of them, `/jobs stop all` stops all.\n")
	}
	return head + b.String()
}

// stop stops the job of a number or an id, or all of them. The model is told.
func (j *jobs) stop(which string) string {
	stopped := 0
	for _, job := range j.running.View("").List() {
		if which != "all" && job.ID != which && job.ID != "job_"+which {
			continue
		}
		if job.State != tools.JobRunning && which != "all" {
			return fmt.Sprintf("%s has ended already.\n", job.ID)
		}
		if j.running.StopCall(job.CallID) {
			stopped++
		}
	}
	switch {
	case stopped > 0:
		return "Stopped " + kinds.Count(stopped, "job") + ".\n"
	case which == "all":
		return "No command is running in the background.\n"
	}
	return fmt.Sprintf("There is no job %s. `/jobs` lists them.\n", kinds.Code(which, nameRunes))
}
