package run

import (
	"fmt"

	"acp-agent/tools"
)

// Play lists the job that a recorded call started, for a replay of the recording. Nothing runs.
func (v JobView) Play(callID string) { v.jobs.play(callID, v.agent) }

func (js *Jobs) play(callID, agent string) {
	js.mu.Lock()
	defer js.mu.Unlock()
	js.last++
	js.list = append(js.list, &job{
		info:   tools.Job{ID: fmt.Sprintf("job_%d", js.last), CallID: callID, Agent: agent, State: tools.JobRunning},
		cancel: func(error) {}, done: make(chan struct{}), output: &jobOutput{closed: true},
	})
}

// PlayEnd sets how a job that Play listed has ended.
func (js *Jobs) PlayEnd(callID string, state tools.JobState) {
	js.mu.Lock()
	defer js.mu.Unlock()
	for _, j := range js.list {
		j.mu.Lock()
		if j.info.CallID == callID {
			j.info.State = state
		}
		j.mu.Unlock()
	}
}
