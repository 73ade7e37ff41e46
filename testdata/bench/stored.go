package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"acp-agent/kinds"
	"acp-agent/store"
	"acp-agent/transcript"
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
		if err != nil && len(out) > 0 {
			return 0, fmt.Errorf("%w: %s", err, out)
		}
		return time.Since(begun), nil
	})
	if err == nil {
		r.results.add("search in 1 GB", "agent", value)
	}
	return err
}

// recording measures turns of an agent that stores its conversations beside one that does not,
// in turns: turns that only answer, and turns with a call.
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
	for _, kind := range []struct {
		row   string
		steps func(n int) []string
	}{
		{"a turn of 200 deltas", func(int) []string { return []string{say("a few words ", 200)} }},
		{"a turn with a call that reads", func(n int) []string {
			return []string{calling(fmt.Sprint("w", n), "read", map[string]any{"path": "read.txt"}), say("a few words ", 50)}
		}},
	} {
		var without, with []float64
		for n := range 61 {
			var took [2]float64
			for i := range pair {
				i = (i + n) % 2 // neither is always the first
				r.model.steps(kind.steps(n)...)
				turn, err := pair[i].prompt(sessions[i], "work")
				if err != nil {
					return err
				}
				took[i] = milliseconds(turn)
			}
			if n > 0 {
				without, with = append(without, took[0]), append(with, took[1])
			}
		}
		r.results.add(kind.row+", not stored", "agent", median(without))
		r.results.add(kind.row+", stored over not stored", "agent", median(with)/median(without))
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

func conversations(home string) string {
	return filepath.Join(home, "data", "acp-agent", "conversations")
}

// storeOnce stores a conversation unless it is stored already.
func storeOnce(home, id string, turns int) error {
	if _, err := os.Stat(filepath.Join(conversations(home), id+".jsonl")); err == nil {
		return nil
	}
	var failed error
	at := time.Now()
	recorder := store.New(store.Options{Dir: conversations(home)}).
		Create(store.Info{ID: id, Cwd: filepath.Join(home, "project")}, func(err error) { failed = err })
	for i := range turns {
		turn := fmt.Sprint(i)
		recorder.Emit(transcript.TurnStarted{TurnID: "trn_" + turn, At: at})
		prompt := &transcript.Message{ID: "msg_u" + turn, Role: transcript.User, Created: at, Parts: []transcript.Part{
			&transcript.TextPart{ID: "prt_u" + turn, Text: "Please look at file " + turn + " and fix it."},
		}}
		recorder.Emit(transcript.UserSaid{Message: prompt})
		storeStep(recorder, turn, at)
		recorder.Emit(transcript.TurnFinished{TurnID: "trn_" + turn, Reason: "finish"})
	}
	if err := recorder.Close(); err != nil {
		return err
	}
	return failed
}

// storeStep stores a thought, an answer and a call.
func storeStep(recorder *store.Recorder, turn string, at time.Time) {
	text := strings.Repeat("The quick brown fox jumps over the lazy dog.\n", 18)
	step := "msg_a" + turn
	recorder.Emit(transcript.StepStarted{MessageID: step, Model: "m", At: at})
	for _, kind := range []transcript.PartKind{transcript.ReasoningKind, transcript.TextKind} {
		part := fmt.Sprintf("prt_%s_%d", turn, kind)
		recorder.Emit(transcript.PartStarted{MessageID: step, PartID: part, Kind: kind})
		recorder.Emit(transcript.PartDelta{PartID: part, Text: text})
		recorder.Emit(transcript.PartEnded{PartID: part})
	}
	call, card := "call_"+turn, kinds.Card{Kind: kinds.Read, Title: "Read main.go"}
	recorder.Emit(transcript.ToolStarted{MessageID: step, CallID: call, Name: "read", Tool: "read"})
	recorder.Emit(transcript.ToolReady{CallID: call, Tool: "read", Input: `{"path":"main.go"}`, Card: card})
	recorder.Emit(transcript.ToolState{CallID: call, State: transcript.InProgress})
	card.Content = []kinds.Content{kinds.Text{Text: text}}
	recorder.Emit(transcript.ToolFinished{
		CallID: call, State: transcript.Done, Card: card, Text: text,
		Result: transcript.Envelope{Type: transcript.Output, Data: json.RawMessage(`{"lines":18}`)},
	})
	recorder.Emit(transcript.StepFinished{MessageID: step, Usage: &transcript.Usage{Input: 10, Output: 10}})
}

// storeCopies stores sessions with the same conversation, unless they are stored already.
func storeCopies(home string, sessions, turns int) error {
	const model = "ses_model"
	if err := storeOnce(home, model, turns); err != nil {
		return err
	}
	path := func(id string) string { return filepath.Join(conversations(home), id+".jsonl") }
	text, err := os.ReadFile(path(model))
	if err != nil {
		return err
	}
	for i := range sessions - 1 {
		if _, err := os.Stat(path(fmt.Sprintf("ses_%05d", i))); err == nil {
			continue
		}
		if err := os.WriteFile(path(fmt.Sprintf("ses_%05d", i)), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}
