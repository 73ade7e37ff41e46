package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"
)

// run is one measurement of everything.
type run struct {
	results  results
	dir      string
	binaries map[string]string
	only     *regexp.Regexp

	ctx      context.Context
	model    *mock
	subjects []*subject
}

// step is a part of the scenario. It runs for each program in turn.
type step struct {
	name string
	run  func(r *run, s *subject) error
}

// steps is the scenario, in order.
var steps = []step{
	{"start", (*run).starting},
	{"session", (*run).sessions},
	{"idle", (*run).idle},
	{"first", (*run).firstChunk},
	{"deltas", (*run).deltas},
	{"paced", (*run).paced},
	{"reads", (*run).reads},
	{"parallel", (*run).parallelReads},
	{"bash", (*run).bash},
	{"edit", (*run).edits},
	{"cancel", (*run).cancels},
	{"many", (*run).manySessions},
	{"turns", (*run).turns},
}

// all runs every step with both programs.
func (r *run) all(ctx context.Context) (err error) {
	r.ctx = ctx
	if r.model, err = startMock(); err != nil {
		return err
	}
	defer r.model.Close()
	for _, name := range []string{"floor", "agent"} {
		s, err := start(ctx, name, r.binaries[name], filepath.Join(r.dir, name), r.model.URL)
		if err != nil {
			return err
		}
		r.subjects = append(r.subjects, s)
		if err := s.initialize(); err != nil {
			return err
		}
	}
	for _, step := range steps {
		if !r.only.MatchString(step.name) {
			continue
		}
		for _, s := range r.subjects {
			if err := step.run(r, s); err != nil {
				return fmt.Errorf("%s, %s: %w", step.name, s.name, err)
			}
		}
		slices.Reverse(r.subjects) // neither is always the first
	}
	if err := r.end(); err != nil {
		return err
	}
	if r.only.MatchString("servers") {
		if err := r.withServers(); err != nil {
			return fmt.Errorf("servers: %w", err)
		}
	}
	if err := r.family(); err != nil {
		return err
	}
	if err := r.stored(); err != nil || !r.only.MatchString("grep") {
		return err
	}
	return r.grep()
}

// end takes what is known of a program at its end.
func (r *run) end() error {
	for _, s := range r.subjects {
		_, peak, err := memoryOf(s.cmd.Process.Pid)
		if err != nil {
			return err
		}
		r.results.add("peak memory, RSS", s.name, peak)
		took, err := s.stop()
		if err != nil {
			return fmt.Errorf("%s ended: %w", s.name, err)
		}
		r.results.add("stdin closed to exit", s.name, milliseconds(took))
		state := s.cmd.ProcessState // with the commands that it waited for
		r.results.add("CPU of everything above", s.name, milliseconds(state.UserTime()+state.SystemTime()))
		info, err := os.Stat(r.binaries[s.name])
		if err != nil {
			return err
		}
		r.results.add("size of the binary", s.name, float64(info.Size())/1e6)
	}
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

// typical repeats a measurement in one run; of these the median counts.
func typical(n int, measure func(i int) (time.Duration, error)) (float64, error) {
	var all []float64
	for i := range n {
		took, err := measure(i)
		if err != nil {
			return 0, err
		}
		all = append(all, milliseconds(took))
	}
	return median(all), nil
}

// note records a measurement, if it succeeded.
func (r *run) note(row string, s *subject, value float64, err error) error {
	if err == nil {
		r.results.add(row, s.name, value)
	}
	return err
}

// starting spawns the program anew, several times.
func (r *run) starting(s *subject) error {
	var exits, later []float64
	value, err := typical(11, func(int) (time.Duration, error) {
		begun := time.Now()
		fresh, err := start(r.ctx, s.name, r.binaries[s.name], filepath.Join(r.dir, s.name), r.model.URL)
		if err != nil {
			return 0, err
		}
		if err := fresh.initialize(); err != nil {
			return 0, err
		}
		took := time.Since(begun)
		exit, err := fresh.stop()
		exits = append(exits, milliseconds(exit))
		return took, err
	})
	if err != nil {
		return err
	}
	for range 11 {
		exit, err := r.oneTurn(s)
		if err != nil {
			return err
		}
		later = append(later, milliseconds(exit))
	}
	r.results.add("exit right after initialize", s.name, median(exits))
	r.results.add("exit right after a first turn", s.name, median(later))
	return r.note("spawn to initialize answer", s, value, err)
}

// oneTurn spawns the program anew for one turn, and says how long its exit took.
func (r *run) oneTurn(s *subject) (time.Duration, error) {
	r.model.steps(say("word", 1))
	fresh, err := start(r.ctx, s.name, r.binaries[s.name], filepath.Join(r.dir, s.name), r.model.URL)
	if err != nil {
		return 0, err
	}
	if err := fresh.initialize(); err != nil {
		return 0, err
	}
	session, _, err := fresh.open()
	if err != nil {
		return 0, err
	}
	if _, err := fresh.prompt(session, "say a word"); err != nil {
		return 0, err
	}
	return fresh.stop()
}

// sessions opens the first session right behind initialize, as editors do, and some more.
func (r *run) sessions(s *subject) error {
	var firsts []float64
	for range 5 {
		fresh, err := start(r.ctx, s.name, r.binaries[s.name], filepath.Join(r.dir, s.name), r.model.URL)
		if err != nil {
			return err
		}
		if err := fresh.initialize(); err != nil {
			return err
		}
		_, took, err := fresh.open()
		if err != nil {
			return err
		}
		firsts = append(firsts, milliseconds(took))
		if _, err := fresh.stop(); err != nil {
			return err
		}
	}
	r.results.add("session/new, first", s.name, median(firsts))
	if _, _, err := s.open(); err != nil {
		return err
	}
	value, err := typical(11, func(int) (time.Duration, error) {
		_, took, err := s.open()
		return took, err
	})
	return r.note("session/new, later", s, value, err)
}

// idle looks at a program that has sessions and nothing to do.
func (r *run) idle(s *subject) error {
	time.Sleep(300 * time.Millisecond)
	pss, _, err := memoryOf(s.cmd.Process.Pid)
	return r.note("idle memory, PSS", s, pss, err)
}
