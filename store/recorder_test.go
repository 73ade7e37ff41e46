package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"acp-agent/kinds"
	"acp-agent/store"
	"acp-agent/transcript"
)

const cwd = "/home/me/project"

// open makes a store in a directory of its own.
func open(t testing.TB) *store.Store {
	t.Helper()
	s := store.New(store.Options{Dir: filepath.Join(t.TempDir(), "sessions")})
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// fail is a fault callback that fails the test.
func fail(t testing.TB) func(error) {
	return func(err error) { t.Errorf("fault: %v", err) }
}

func load(t testing.TB, s *store.Store, id string) (*store.Stored, transcript.Snapshot) {
	t.Helper()
	st, err := s.Load(id)
	if err != nil {
		t.Fatal(err)
	}
	snapshot, err := st.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	return st, snapshot
}

func say(r *store.Recorder, id, text string) {
	r.Emit(transcript.UserSaid{Message: &transcript.Message{
		ID: id, Role: transcript.User, Created: at, Parts: []transcript.Part{&transcript.TextPart{ID: "prt_" + id, Text: text}},
	}})
}

func answer(r *store.Recorder, id, text string) {
	r.Emit(transcript.StepStarted{MessageID: id, Model: "m", At: at})
	r.Emit(transcript.PartStarted{MessageID: id, PartID: "prt_" + id})
	r.Emit(transcript.PartDelta{PartID: "prt_" + id, Text: text})
	r.Emit(transcript.PartEnded{PartID: "prt_" + id})
	r.Emit(transcript.StepFinished{MessageID: id})
}

func texts(s transcript.Snapshot) []string {
	var list []string
	for _, m := range s.Messages {
		list = append(list, m.Text())
	}
	return list
}

// TestRecorder_StoresWhatTheLogHolds is the golden rule: what is loaded is what was folded live,
// at every boundary and at the end.
func TestRecorder_StoresWhatTheLogHolds(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		s := open(t)
		r := s.Create(store.Info{ID: "ses_x", Cwd: cwd}, fail(t))
		var live *stream
		check := func(when string) {
			t.Helper()
			st, got := load(t, s, "ses_x")
			want := transcript.Snapshot{Messages: live.log.Record(), Memory: live.log.Memory()}
			if diff := cmp.Diff(want, got, records, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("seed %d, %s (-want +got):\n%s", seed, when, diff)
			}
			if diff := cmp.Diff(live.log.Messages(), transcript.NewLog(got.Messages...).Messages(), records, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("seed %d, %s, what a model sees (-live +loaded):\n%s", seed, when, diff)
			}
			if !st.Damage.None() || st.Damage.Torn > 0 {
				t.Fatalf("seed %d: damage %+v", seed, st.Damage)
			}
		}
		live = newStream(seed, func(e transcript.Event) {
			r.Emit(e)
			switch e.(type) {
			case transcript.ToolFinished, transcript.UserSaid, transcript.TurnFinished, transcript.ToolReady:
				if live.rand.IntN(3) == 0 {
					check("at a boundary")
				}
			}
		})
		for range 4 {
			live.turn(3)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		check("closed")
	}
}

func TestRecorder_TouchesNothingBeforeItIsUsed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sessions")
	s := store.New(store.Options{Dir: dir})
	r := s.Create(store.Info{ID: "ses_x", Cwd: cwd}, fail(t))
	r.Emit(transcript.ModeChanged{ModeID: "plan"})
	if err := r.Put("k", 1); err != nil {
		t.Error(err)
	}
	if page, err := s.List(store.ListOptions{}); err != nil || len(page.Sessions) > 0 {
		t.Errorf("List = %v, %v", page, err)
	}
	if err := errors.Join(r.Close(), s.Close()); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(dir); !os.IsNotExist(err) {
		t.Errorf("the directory was made: %v", err)
	}
}

func TestRecorder_OffStoresNothing(t *testing.T) {
	var s *store.Store
	r := s.Create(store.Info{ID: "ses_x"}, fail(t))
	say(r, "msg_1", "hello")
	if _, err := s.Load("ses_x"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Load: %v", err)
	}
	if _, err := s.PutBlob("ses_x", strings.NewReader("x")); !errors.Is(err, store.ErrOff) {
		t.Errorf("PutBlob: %v", err)
	}
	if err := errors.Join(r.Close(), s.Close(), s.Delete("ses_x")); err != nil {
		t.Error(err)
	}
}

func TestRecorder_FilesArePrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sessions")
	s := store.New(store.Options{Dir: dir})
	r := s.Create(store.Info{ID: "ses_x", Cwd: cwd}, fail(t))
	say(r, "msg_1", "hello")
	r.Emit(transcript.StepStarted{MessageID: "msg_2", At: at})
	r.Emit(transcript.PartStarted{MessageID: "msg_2", PartID: "p"})
	r.Emit(transcript.PartDelta{PartID: "p", Text: strings.Repeat("x", 1<<17)})
	if _, err := s.PutBlob("ses_x", strings.NewReader("x")); err != nil {
		t.Fatal(err)
	}
	files := 0
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
		files++
		return err
	})
	if err != nil || files < 7 {
		t.Errorf("%d files, %v", files, err)
	}
	if err := errors.Join(r.Close(), s.Close()); err != nil {
		t.Error(err)
	}
}

func TestRecorder_Info(t *testing.T) {
	s := open(t)
	r := s.Create(store.Info{ID: "ses_x", Cwd: cwd}, fail(t))
	r.Emit(transcript.TurnStarted{TurnID: "trn_1"})
	say(r, "msg_1", "hello")
	if st, _ := load(t, s, "ses_x"); !st.Interrupted {
		t.Error("a turn that runs is not interrupted")
	}
	for range 2 {
		r.Emit(transcript.StepStarted{MessageID: "msg_2", Model: "big", At: at})
		r.Emit(transcript.StepFinished{MessageID: "msg_2", Usage: &transcript.Usage{Input: 2, Output: 3}})
	}
	r.Emit(transcript.TitleChanged{Title: "Greeting"})
	r.Emit(transcript.UsageChanged{Used: 10, Size: 100, Cost: 0.5})
	if err := r.Put("rules", []string{"a"}); err != nil {
		t.Error(err)
	}
	if err := r.Put("rules", []string{"a", "b"}); err != nil {
		t.Error(err)
	}
	r.Emit(transcript.TurnFinished{TurnID: "trn_1", Reason: "finish"})
	st, _ := load(t, s, "ses_x")
	want := store.Info{
		Version: 1, ID: "ses_x", Cwd: cwd, Title: "Greeting", Model: "big", Turn: "trn_1", Reason: "finish", Messages: 3, Turns: 1,
		Usage: transcript.Usage{Input: 4, Output: 6}, Used: 10, Size: 100, Cost: 0.5,
	}
	if diff := cmp.Diff(want, st.Info, cmpopts.IgnoreFields(store.Info{}, "Created", "Updated")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var rules []string
	if ok, err := st.State("rules", &rules); !ok || err != nil || len(rules) != 2 {
		t.Errorf("State = %v, %v, %v", ok, err, rules)
	}
	if ok, err := st.State("none", &rules); ok || err != nil {
		t.Errorf("State of an unknown key = %v, %v", ok, err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// TestRecorder_Deltas holds that a kill loses at most the last group of a text.
func TestRecorder_Deltas(t *testing.T) {
	s := open(t)
	r := s.Create(store.Info{ID: "ses_x", Cwd: cwd}, fail(t))
	say(r, "msg_1", "hello")
	r.Emit(transcript.StepStarted{MessageID: "msg_2", At: at})
	r.Emit(transcript.PartStarted{MessageID: "msg_2", PartID: "p", Kind: transcript.ReasoningKind})
	want := ""
	for _, piece := range []string{"one ", "two ", "three"} {
		r.Emit(transcript.PartDelta{PartID: "p", Text: piece})
		want += piece
		deadline := time.Now().Add(time.Minute)
		for {
			_, got := load(t, s, "ses_x")
			if part, ok := got.Messages[len(got.Messages)-1].Parts, len(got.Messages) == 2; ok && len(part) == 1 && part[0].(*transcript.ReasoningPart).Text == want {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%q is not stored", want)
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, got := load(t, s, "ses_x"); got.Messages[1].Parts[0].(*transcript.ReasoningPart).Text != want {
		t.Errorf("after Close: %+v", got.Messages[1].Parts)
	}
}

func TestRecorder_HideAndShow(t *testing.T) {
	s := open(t)
	r := s.Create(store.Info{ID: "ses_x", Cwd: cwd}, fail(t))
	for _, n := range []string{"1", "2", "3"} {
		say(r, "msg_"+n, n)
		answer(r, "msg_a"+n, "a"+n)
	}
	steps := []struct {
		do   func()
		want string
	}{
		{func() { r.Emit(transcript.Hidden{MessageID: "msg_3"}) }, "1 a1 2 a2"},
		{func() { r.Emit(transcript.Hidden{MessageID: "msg_2"}) }, "1 a1"},
		{func() { r.Emit(transcript.Shown{MessageID: "msg_2"}) }, "1 a1 2 a2"},
		{func() { r.Emit(transcript.Shown{MessageID: "msg_3"}) }, "1 a1 2 a2 3 a3"},
		{func() { r.Emit(transcript.Hidden{MessageID: "msg_2"}) }, "1 a1"},
		{func() { say(r, "msg_4", "4") }, "1 a1 4"},
	}
	for i, step := range steps {
		step.do()
		if _, got := load(t, s, "ses_x"); strings.Join(texts(got), " ") != step.want {
			t.Errorf("step %d: %q, want %q", i, texts(got), step.want)
		}
	}
	st, _ := load(t, s, "ses_x")
	all := 0
	for _, err := range st.All() {
		if err != nil {
			t.Error(err)
		}
		all++
	}
	if all != 7 {
		t.Errorf("All gives %d messages, want 7", all)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

func TestRecorder_Inspectable(t *testing.T) {
	s := open(t)
	r := s.Create(store.Info{ID: "ses_x", Cwd: cwd}, fail(t))
	say(r, "msg_1", "hello")
	r.Emit(transcript.StepStarted{MessageID: "msg_2", At: at})
	r.Emit(transcript.ToolStarted{MessageID: "msg_2", CallID: "c", Name: "task", Tool: "task"})
	r.Emit(transcript.ToolReady{CallID: "c", Tool: "task", Input: "{}", Card: kinds.Card{Kind: kinds.Other}})
	child := transcript.NewChild(transcript.ChildRecord{
		ID: "ses_c", ParentID: "ses_x", ParentMessageID: "msg_2", CallID: "c", Agent: "explore", Inspectable: true, State: transcript.ChildRunning,
	}, transcript.NewLog())
	r.Emit(transcript.ChildStarted{CallID: "c", Child: child})
	r.Emit(transcript.ChildEvent{CallID: "c", Event: transcript.UserSaid{Message: &transcript.Message{
		ID: "msg_c", Role: transcript.User, Parts: []transcript.Part{&transcript.TextPart{Text: "look"}},
	}}})
	r.Emit(transcript.ChildFinished{CallID: "c", Child: child})
	st, got := load(t, s, "ses_c")
	if st.Info.ParentID != "ses_x" || st.Info.ParentMessageID != "msg_2" || st.Info.Agent != "explore" || st.Info.Cwd != cwd || got.Messages[0].Text() != "look" {
		t.Errorf("subagent: %+v, %v", st.Info, texts(got))
	}
	_, got = load(t, s, "ses_x")
	if c := got.Messages[1].Calls()[0].Child; c == nil || !c.Brief().Inspectable || len(c.Messages()) > 0 {
		t.Errorf("the call has %+v", c)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete("ses_x"); err != nil {
		t.Error(err)
	}
	if _, err := s.Load("ses_c"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the subagent of a deleted session: %v", err)
	}
}
