package main

import (
	"fmt"
	"os"
	"path/filepath"
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

// recordings are what an agent may keep of its turns: the conversation itself, and with --record
// all that passed.
var recordings = []struct {
	word          string
	without, with recorder
}{
	{"stored", recorder{}, recorder{stores: true}},
	{"recorded", recorder{stores: true}, recorder{stores: true, records: true}},
}

// recorder is an agent by what it keeps.
type recorder struct{ stores, records bool }

// recording measures turns of an agent that keeps more of them beside one that keeps less, by turns.
func (r *run) recording() error {
	for _, kept := range recordings {
		if err := r.kept(kept.word, [2]recorder{kept.without, kept.with}); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) kept(word string, agents [2]recorder) error {
	var pair [2]*subject
	var sessions [2]string
	for i, agent := range agents {
		s, session, err := r.recorder(fmt.Sprint(word, i), agent)
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
		r.results.add(kind.row+", not "+word, "agent", without)
		r.results.add(kind.row+", "+word+", above it", "agent", with-without)
		r.results.add(kind.row+", "+word+" over not "+word, "agent", with/without)
		r.results.add(kind.row+", "+word+", the same of CPU", "agent", cpu[1].Seconds()/cpu[0].Seconds())
	}
	return nil
}

// recorder starts such an agent, with a session.
func (r *run) recorder(name string, kept recorder) (s *subject, session string, err error) {
	var args []string
	if kept.records {
		args = []string{"--record", filepath.Join(r.dir, name+".record")}
	}
	s, err = r.fresh("recording "+name, map[string]string{
		"config/acp-agent/config.jsonc": fmt.Sprintf(`{"sessions": {"store": %v}}`, kept.stores),
	}, args...)
	if err != nil {
		return nil, "", err
	}
	if err = os.WriteFile(s.project("read.txt"), []byte(text), 0o644); err == nil {
		session, _, err = s.open()
	}
	return s, session, err
}
