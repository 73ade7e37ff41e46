package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// stored measures what is done with stored conversations, in processes of its own. The floor
// stores nothing.
func (r *run) stored() error {
	for _, part := range []struct {
		name    string
		measure func(home string) error
	}{{"load", r.loads}, {"list", r.lists}, {"search", r.searches}} {
		if !r.only.MatchString(part.name) {
			continue
		}
		if err := part.measure(filepath.Join(filepath.Dir(r.dir), "stored "+part.name)); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	if !r.only.MatchString("recording") {
		return nil
	}
	if err := r.recording(); err != nil {
		return fmt.Errorf("recording: %w", err)
	}
	return nil
}

// Sizes of what is stored. A turn has four parts: prompt, thought, answer and call.
const (
	storedTurns    = 100
	storedLong     = 2500 // 10,000 parts
	storedListed   = 5000
	storedSearched = 100
	searchedTurns  = 1600 // 10 MB
)

// loads measures session/load in a fresh process, of which it is the first session.
func (r *run) loads(home string) error {
	for _, turns := range []int{1, storedTurns, storedLong} {
		if err := storeOnce(home, loadedID(turns), turns); err != nil {
			return err
		}
	}
	rows := map[int]string{1: "session/load, 1 turn", storedTurns: "session/load, 100 turns", storedLong: "session/load, 10000 parts"}
	for turns, row := range rows {
		var first, all, cpu, peak []float64
		for range 7 {
			l, err := r.load(home, turns)
			if err != nil {
				return err
			}
			first, all = append(first, milliseconds(l.first)), append(all, milliseconds(l.all))
			cpu, peak = append(cpu, milliseconds(l.cpu)), append(peak, l.peak)
		}
		r.results.add(row, "agent", median(all))
		r.results.add(row+", to the first update", "agent", median(first))
		r.results.add(row+", CPU", "agent", median(cpu))
		r.results.add(row+", peak memory", "agent", median(peak))
	}
	return nil
}

func loadedID(turns int) string { return fmt.Sprintf("ses_load%d", turns) }

// loaded is what one load took.
type loaded struct {
	first, all, cpu time.Duration
	peak            float64
}

func (r *run) load(home string, turns int) (l loaded, err error) {
	s, err := start(r.ctx, "agent", r.binaries["agent"], home, r.model.URL)
	if err != nil {
		return l, err
	}
	defer s.stop()
	if err := s.initialize(); err != nil {
		return l, err
	}
	before, err := cpuOf(s.cmd.Process.Pid)
	if err != nil {
		return l, err
	}
	updates, begun := 0, time.Now()
	err = s.watching(func(_ []byte, at time.Time) {
		if updates++; updates == 1 {
			l.first = at.Sub(begun)
		}
	}, func() (err error) {
		l.all, err = s.call("session/load", map[string]any{"sessionId": loadedID(turns), "cwd": s.project(""), "mcpServers": []any{}}, nil)
		return err
	})
	if err != nil {
		return l, err
	}
	if updates < 4*turns {
		return l, fmt.Errorf("%d updates for %d turns", updates, turns)
	}
	after, err := cpuOf(s.cmd.Process.Pid)
	if err != nil {
		return l, err
	}
	l.cpu = after - before
	_, l.peak, err = memoryOf(s.cmd.Process.Pid)
	return l, err
}

// lists measures the first page of thousands of sessions, by a fresh process and by one that
// has listed them before.
func (r *run) lists(home string) error {
	if err := storeCopies(home, storedListed, 1); err != nil {
		return err
	}
	var first, later []float64
	for range 7 {
		s, err := start(r.ctx, "agent", r.binaries["agent"], home, r.model.URL)
		if err != nil {
			return err
		}
		if err := s.initialize(); err != nil {
			return err
		}
		for _, into := range []*[]float64{&first, &later} {
			var page struct{ Sessions []json.RawMessage }
			took, err := s.call("session/list", map[string]any{}, &page)
			if err != nil {
				return err
			}
			if len(page.Sessions) != 50 {
				return fmt.Errorf("%d sessions on the page", len(page.Sessions))
			}
			*into = append(*into, milliseconds(took))
		}
		if _, err := s.stop(); err != nil {
			return err
		}
	}
	r.results.add("session/list of 5000, first", "agent", median(first))
	r.results.add("session/list of 5000, later", "agent", median(later))
	return nil
}

// searches measures a search for words that stand nowhere in 1 GB, as a whole process.
func (r *run) searches(home string) error {
	if err := storeCopies(home, storedSearched, searchedTurns); err != nil {
		return err
	}
	value, err := typical(3, func(int) (time.Duration, error) {
		cmd := exec.CommandContext(r.ctx, r.binaries["agent"], "sessions", "search", "xylophone concerto")
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_DATA_HOME=" + home + "/data"}
		begun := time.Now()
		out, err := cmd.CombinedOutput()
		took := time.Since(begun)
		if !bytes.Contains(out, []byte("Nothing was found.")) { // the exit status says so, too
			return 0, fmt.Errorf("a search for what is nowhere: %w: %s", err, out)
		}
		return took, nil
	})
	if err == nil {
		r.results.add("search in 1 GB", "agent", value)
	}
	return err
}
