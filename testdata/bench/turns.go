package main

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

var chunk = []byte(`"agent_message_chunk"`)

// firstChunk measures a warm turn of one word, and the size of the first request.
func (r *run) firstChunk(s *subject) error {
	r.model.steps(say("word", 1))
	session, _, err := s.open()
	if err != nil {
		return err
	}
	before := len(r.model.Requests())
	value, err := typical(31, func(int) (time.Duration, error) {
		var first atomic.Int64
		begun := time.Now()
		err := s.watching(func(line []byte, at time.Time) {
			if bytes.Contains(line, chunk) {
				first.CompareAndSwap(0, int64(at.Sub(begun)))
			}
		}, func() error {
			_, err := s.prompt(session, "say a word")
			return err
		})
		return time.Duration(first.Load()), err
	})
	if err != nil {
		return err
	}
	for _, request := range r.model.Requests()[before:] {
		if strings.HasSuffix(request.Path, "/chat/completions") {
			r.results.add("first model request", s.name, float64(len(request.Body))/1000)
			break
		}
	}
	return r.note("warm prompt to first chunk", s, value, nil)
}

// deltas measures a long answer that comes as fast as it can be read.
func (r *run) deltas(s *subject) error {
	r.model.steps(say("a few words ", 2000))
	session, _, err := s.open()
	if err != nil {
		return err
	}
	var cpu, updates []float64
	value, err := typical(7, func(int) (time.Duration, error) {
		before, err := cpuOf(s.cmd.Process.Pid)
		if err != nil {
			return 0, err
		}
		var took time.Duration
		chunks := 0
		err = s.watching(func(line []byte, _ time.Time) {
			if bytes.Contains(line, chunk) {
				chunks++
			}
		}, func() error {
			var err error
			took, err = s.prompt(session, "say much")
			return err
		})
		if err != nil {
			return 0, err
		}
		updates = append(updates, float64(chunks))
		after, err := cpuOf(s.cmd.Process.Pid)
		cpu = append(cpu, milliseconds(after-before))
		return took, err
	})
	r.results.add("2000 deltas, CPU", s.name, median(cpu))
	r.results.add("2000 deltas, updates", s.name, median(updates))
	return r.note("2000 deltas, prompt to stop", s, value, err)
}

// paced measures how long a delta is on its way when they come one by one.
func (r *run) paced(s *subject) error {
	for _, p := range []struct{ n, milliseconds int }{{60, 30}, {120, 10}, {240, 5}} {
		var mu sync.Mutex
		sent := make([]time.Time, p.n)
		r.model.paced(p.n, time.Duration(p.milliseconds)*time.Millisecond, func(i int) {
			mu.Lock()
			defer mu.Unlock()
			sent[i] = time.Now()
		})
		session, _, err := s.open()
		if err != nil {
			return err
		}
		var latency []float64
		err = s.watching(func(line []byte, at time.Time) {
			mu.Lock()
			defer mu.Unlock()
			for ; len(latency) < p.n && carries(line, len(latency)); latency = append(latency, milliseconds(at.Sub(sent[len(latency)]))) {
			}
		}, func() error {
			_, err := s.prompt(session, "say it slowly")
			return err
		})
		if err != nil {
			return err
		}
		if len(latency) != p.n {
			return fmt.Errorf("%d of %d paced deltas arrived", len(latency), p.n)
		}
		row := fmt.Sprintf("deltas every %d ms, latency p", p.milliseconds)
		r.results.add(row+"50", s.name, percentile(latency, 50))
		r.results.add(row+"99", s.name, percentile(latency, 99))
	}
	return nil
}

// carries reports whether an update has the i-th paced delta. Some programs escape < and >.
func carries(line []byte, i int) bool {
	return bytes.Contains(line, chunk) && bytes.Contains(line, []byte(strings.Trim(marker(i), "<>")))
}

// cancels measures the way from a cancel to the turn's answer, the model being silent.
func (r *run) cancels(s *subject) error {
	r.model.stall()
	session, _, err := s.open()
	if err != nil {
		return err
	}
	value, err := typical(11, func(int) (time.Duration, error) {
		said := make(chan struct{}, 1)
		var took time.Duration
		err := s.watching(func(line []byte, _ time.Time) {
			if bytes.Contains(line, chunk) {
				said <- struct{}{}
			}
		}, func() error {
			stopped, err := s.request("session/prompt", promptParams(session, "wait"))
			if err != nil {
				return err
			}
			<-said
			begun := time.Now()
			if err := s.send(map[string]any{
				"jsonrpc": "2.0", "method": "session/cancel", "params": map[string]any{"sessionId": session},
			}); err != nil {
				return err
			}
			a := <-stopped
			took = a.at.Sub(begun)
			if a.err == nil && !bytes.Contains(a.result, []byte("cancelled")) {
				return fmt.Errorf("the cancelled turn ended with %s", a.result)
			}
			return a.err
		})
		return took, err
	})
	return r.note("cancel to stop", s, value, err)
}

// manySessions measures 20 sessions that stream at once.
func (r *run) manySessions(s *subject) error {
	const n = 20
	r.model.steps(say("a few words ", 500))
	sessions := make([]string, n)
	for i := range sessions {
		var err error
		if sessions[i], _, err = s.open(); err != nil {
			return err
		}
	}
	value, err := typical(5, func(int) (time.Duration, error) {
		begun := time.Now()
		var stops []<-chan answer
		for _, session := range sessions {
			stop, err := s.request("session/prompt", promptParams(session, "say much"))
			if err != nil {
				return 0, err
			}
			stops = append(stops, stop)
		}
		for _, stop := range stops {
			if a := <-stop; a.err != nil {
				return 0, a.err
			}
		}
		return time.Since(begun), nil
	})
	return r.note("20 sessions x 500 deltas", s, value, err)
}

// turns measures a long conversation: what a turn costs when much was said before. The time of a
// turn includes the model server, which reads the whole conversation; the CPU is the agent's alone.
func (r *run) turns(s *subject) error {
	r.model.steps(say(strings.Repeat("word ", 40), 20)) // 4 KB
	session, _, err := s.open()
	if err != nil {
		return err
	}
	var all, cpu []float64
	for i := range 100 {
		before, err := cpuOf(s.cmd.Process.Pid)
		if err != nil {
			return err
		}
		took, err := s.prompt(session, fmt.Sprint("go on ", i))
		if err != nil {
			return err
		}
		after, err := cpuOf(s.cmd.Process.Pid)
		if err != nil {
			return err
		}
		all, cpu = append(all, milliseconds(took)), append(cpu, milliseconds(after-before))
	}
	early, late := median(all[1:6]), median(all[95:])
	r.results.add("4 KB turns, turn 1", s.name, all[0])
	r.results.add("4 KB turns, turn 2-6", s.name, early)
	r.results.add("4 KB turns, turn 96-100", s.name, late)
	r.results.add("4 KB turns, 96-100 over 1", s.name, late/all[0])
	r.results.add("4 KB turns, 96-100 over 2-6", s.name, late/early)
	r.results.add("4 KB turns, 96-100 over 2-6, the same of CPU", s.name, median(cpu[95:])/median(cpu[1:6]))
	return nil
}
