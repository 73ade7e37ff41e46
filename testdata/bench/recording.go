package main

import (
	"fmt"
	"os"
	"time"
)

// recordedTurns are the turns that recording compares. The model server has no think time but in
// the last, which is paced as a fast server is: recording is to vanish in it.
var recordedTurns = []struct {
	row   string
	turns int
	model func(m *mock, n int)
}{
	{"a turn of 200 deltas", 60, func(m *mock, _ int) { m.steps(say("a few words ", 200)) }},
	{"a turn with a call that reads", 60, func(m *mock, n int) {
		m.steps(calling(fmt.Sprint("w", n), "read", map[string]any{"path": "read.txt"}), say("a few words ", 50))
	}},
	{"a turn of 100 deltas every 5 ms", 6, func(m *mock, _ int) { m.paced(100, 5*time.Millisecond, func(int) {}) }},
}

// recording measures turns of an agent that stores its conversations beside one that does not,
// in turns.
func (r *run) recording() error {
	var pair [2]*subject
	var sessions [2]string
	for i := range pair {
		s, session, err := r.recorder(i == 1)
		if err != nil {
			return err
		}
		defer s.stop()
		pair[i], sessions[i] = s, session
	}
	for _, kind := range recordedTurns {
		var took [2][]float64
		var cpu [2]time.Duration
		for n := range kind.turns + 1 {
			for i := range pair {
				i = (i + n) % 2 // neither is always the first
				kind.model(r.model, n)
				turn, err := pair[i].prompt(sessions[i], "work")
				if err != nil {
					return err
				}
				used, err := cpuOf(pair[i].cmd.Process.Pid)
				if err != nil {
					return err
				}
				if n == 0 { // it warms up
					cpu[i] = -used
					continue
				}
				took[i] = append(took[i], milliseconds(turn))
				if n == kind.turns {
					cpu[i] += used
				}
			}
		}
		without, with := median(took[0]), median(took[1])
		r.results.add(kind.row+", not stored", "agent", without)
		r.results.add(kind.row+", stored, above it", "agent", with-without)
		r.results.add(kind.row+", stored over not stored", "agent", with/without)
		r.results.add(kind.row+", the same of CPU", "agent", cpu[1].Seconds()/cpu[0].Seconds())
	}
	return nil
}

// recorder is an agent that stores its conversations or not, with a session.
func (r *run) recorder(stores bool) (s *subject, session string, err error) {
	s, err = r.fresh(fmt.Sprint("recording ", stores), map[string]string{
		"config/acp-agent/config.jsonc": fmt.Sprintf(`{"sessions": {"store": %v}}`, stores),
	})
	if err != nil {
		return nil, "", err
	}
	if err = os.WriteFile(s.project("read.txt"), []byte(text), 0o644); err == nil {
		session, _, err = s.open()
	}
	return s, session, err
}
