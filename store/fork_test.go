package store_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"acp-agent/store"
	"acp-agent/transcript"
)

func TestStore_Fork(t *testing.T) {
	s := open(t)
	r := s.Create(store.Info{ID: "ses_x", Cwd: cwd, Title: "one"}, fail(t))
	for _, n := range []string{"1", "2", "3"} {
		r.Emit(transcript.Counted{What: "web_search"})
		say(r, "msg_"+n, n)
		answer(r, "msg_a"+n, "a"+n)
	}
	if err := errors.Join(r.Put("rules", "secret"), r.Put("mode", "plan")); err != nil {
		t.Fatal(err)
	}
	r.Emit(transcript.TurnFinished{Reason: "finish"})
	tests := []struct {
		o     store.ForkOptions
		want  string
		count int
	}{
		{store.ForkOptions{Without: []string{"rules"}}, "1 a1 2 a2 3 a3", 3},
		{store.ForkOptions{Through: "msg_a2"}, "1 a1 2 a2", 3},
		{store.ForkOptions{Through: "msg_a3"}, "1 a1 2 a2 3 a3", 3},
		{store.ForkOptions{Before: "msg_2", Cwd: "/other"}, "1 a1", 1},
	}
	for _, tt := range tests {
		info, err := s.Fork("ses_x", tt.o)
		if err != nil {
			t.Fatal(err)
		}
		st, got := load(t, s, info.ID)
		if strings.Join(texts(got), " ") != tt.want || info.ForkedFrom != "ses_x" || info.ID == "ses_x" || info.Title != "one" || st.Info.Messages != len(got.Messages) {
			t.Errorf("%+v: %q, %+v", tt.o, texts(got), st.Info)
		}
		if tt.o.Cwd != "" && st.Info.Cwd != tt.o.Cwd {
			t.Errorf("the directory is %s", st.Info.Cwd)
		}
		for _, m := range got.Messages {
			if strings.HasPrefix(m.ID, "msg_a") || len(m.ID) < 20 {
				t.Errorf("message %s has its old id", m.ID)
			}
		}
		var mode, rules string
		hasMode, err := st.State("mode", &mode)
		hasRules, err2 := st.State("rules", &rules)
		if whole := tt.o.Before == "" && tt.o.Through != "msg_a2"; hasMode != whole || hasRules != (whole && tt.o.Without == nil) || errors.Join(err, err2) != nil {
			t.Errorf("%+v: state %v %v", tt.o, hasMode, hasRules)
		}
		if tt.count == 1 && got.Memory.Counts["web_search"] != 1 {
			t.Errorf("%+v: counts %v", tt.o, got.Memory.Counts)
		}
	}
	if _, err := s.Fork("ses_x", store.ForkOptions{Before: "none"}); !errors.Is(err, store.ErrNoMessage) {
		t.Errorf("at an unknown message: %v", err)
	}
	if _, err := s.Fork("ses_none", store.ForkOptions{}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("of an unknown session: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// TestStore_ForkCopiesEverything compares all but ids, and what a model sees.
func TestStore_ForkCopiesEverything(t *testing.T) {
	noIDs := cmp.FilterPath(func(p cmp.Path) bool {
		return slices.Contains([]string{"ID", "ParentID", "ParentMessageID", "Ended", "Keep"}, strings.TrimPrefix(p.Last().String(), "."))
	}, cmp.Ignore())
	for seed := range uint64(6) {
		s := open(t)
		r := s.Create(store.Info{ID: "ses_x", Cwd: cwd}, fail(t))
		live := newStream(seed, r.Emit)
		live.do(transcript.UserSaid{Message: live.said()})
		live.do(live.compacted())
		for range 5 {
			live.turn(3)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		info, err := s.Fork("ses_x", store.ForkOptions{})
		if err != nil {
			t.Fatal(err)
		}
		_, before := load(t, s, "ses_x")
		_, after := load(t, s, info.ID)
		want, _ := transcript.AfterRestart(before, at)
		if diff := cmp.Diff(want, after, records, noIDs, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("seed %d (-want +got):\n%s", seed, diff)
		}
		seen := func(s transcript.Snapshot) []*transcript.Message { return transcript.NewLog(s.Messages...).Messages() }
		if diff := cmp.Diff(seen(want), seen(after), records, noIDs, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("seed %d, what a model sees (-want +got):\n%s", seed, diff)
		}
	}
}

// TestRecorder_Resume closes what ran, keeps what waits, and goes on with both.
func TestRecorder_Resume(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sessions")
	s := store.New(store.Options{Dir: dir, GroupDelay: time.Millisecond})
	r := s.Create(store.Info{ID: "ses_x", Cwd: cwd}, fail(t))
	say(r, "msg_1", "hello")
	r.Emit(transcript.StepStarted{MessageID: "msg_2", At: at})
	for _, id := range []string{"c1", "c2"} {
		r.Emit(transcript.ToolStarted{MessageID: "msg_2", CallID: id, Name: "bash", Tool: "bash"})
		r.Emit(transcript.ToolReady{CallID: id, Tool: "bash", Input: `{"command":"` + id + `"}`})
	}
	r.Emit(transcript.StepFinished{MessageID: "msg_2"})
	r.Emit(transcript.ToolState{CallID: "c1", State: transcript.InProgress})
	r.Emit(transcript.ToolState{CallID: "c2", State: transcript.BlockedOnUser})
	// The process is killed: its files are as they are now.
	crashed := filepath.Join(t.TempDir(), "sessions")
	if err := os.CopyFS(crashed, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.Close(), s.Close(), os.Chmod(crashed, 0o700), filepath.WalkDir(crashed, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return os.Chmod(name, 0o600)
	})); err != nil {
		t.Fatal(err)
	}
	s = store.New(store.Options{Dir: crashed})
	r, err := s.Open("ses_x", fail(t))
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	snapshot, lost, err := r.Resume(t.Context(), at, func(m *transcript.Message) error {
		seen = append(seen, m.ID)
		return nil
	})
	if err != nil || len(lost) > 0 || strings.Join(seen, " ") != "msg_1 msg_2" {
		t.Fatal(seen, lost, err)
	}
	calls := snapshot.Messages[1].Calls()
	if calls[0].State != transcript.Failed || !strings.HasPrefix(calls[0].Text, transcript.RestartText) || calls[1].State != transcript.BlockedOnUser {
		t.Errorf("calls: %+v", calls)
	}
	log := transcript.NewLog(snapshot.Messages...)
	_ = log
	r.Emit(transcript.ToolFinished{CallID: "c2", State: transcript.Done, Text: "allowed"})
	if err := errors.Join(r.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	_, got := load(t, s, "ses_x")
	calls = got.Messages[1].Calls()
	if calls[0].State != transcript.Failed || calls[0].Input != `{"command":"c1"}` || calls[1].Text != "allowed" || calls[1].Input != `{"command":"c2"}` || !got.Messages[1].Finished {
		t.Errorf("stored: %+v %+v", calls[0], calls[1])
	}
	if _, err := s.Open("ses_none", nil); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Open of an unknown session: %v", err)
	}
}

func TestStore_Blobs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sessions")
	s := store.New(store.Options{Dir: dir})
	long := strings.Repeat("line of a file\n", 50_000)
	contents := []string{"", "short", long[:3000], long, string(noise(200_000))}
	for _, id := range []string{"ses_a", "ses_b"} {
		for _, content := range contents {
			blob, err := s.PutBlob(id, strings.NewReader(content))
			if err != nil || blob.Size != int64(len(content)) {
				t.Fatal(blob, err)
			}
			f, err := s.OpenBlob(id, blob.Digest)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(f)
			if err != nil || string(got) != content || f.Close() != nil {
				t.Fatalf("%d bytes, %v", len(got), err)
			}
		}
		r := s.Create(store.Info{ID: id, Cwd: cwd}, fail(t))
		say(r, "msg_1", "hello")
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	size := func() (files int, bytes int64) {
		err := filepath.WalkDir(filepath.Join(dir, "blobs"), func(_ string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			info, err := d.Info()
			files, bytes = files+1, bytes+info.Size()
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return files, bytes
	}
	if files, bytes := size(); files != 5 || bytes > 220_000 {
		t.Errorf("%d files of %d bytes: each is there once, and what can be is compressed", files, bytes)
	}
	fork, err := s.Fork("ses_a", store.ForkOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range []string{"ses_a", "ses_b", fork.ID} {
		if files, _ := size(); files != 5 {
			t.Errorf("before session %d is deleted: %d files", i, files)
		}
		if err := s.Delete(id); err != nil {
			t.Fatal(err)
		}
	}
	if files, _ := size(); files != 0 {
		t.Errorf("no session refers to %d files that stay", files)
	}
	if _, err := s.OpenBlob("ses_a", "../../secret"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a digest that is none: %v", err)
	}
}

// noise is what cannot be compressed.
func noise(size int) []byte {
	data := make([]byte, size)
	state := uint64(1)
	for i := range data {
		state = state*6364136223846793005 + 1442695040888963407
		data[i] = byte(state >> 56)
	}
	return data
}

func TestStore_DamagedBlob(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sessions")
	s := store.New(store.Options{Dir: dir})
	for _, content := range []string{"short", strings.Repeat("long ", 10_000)} {
		blob, err := s.PutBlob("ses_a", strings.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		found, err := filepath.Glob(filepath.Join(dir, "ses_a.blobs", blob.Digest+"*"))
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		data, err := os.ReadFile(found[0])
		if err != nil {
			t.Fatal(err)
		}
		data[len(data)/2] ^= 1
		if err := os.WriteFile(found[0], data, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := s.OpenBlob("ses_a", blob.Digest)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(f); !errors.Is(err, store.ErrBlob) {
			t.Errorf("a damaged blob: %v", err)
		}
		_ = f.Close()
	}
}

func TestStore_Sweep(t *testing.T) {
	s, dir := library(t, "a", "b", "c", "d")
	age := func(id string, days int) {
		when := time.Now().Add(-time.Duration(days) * 24 * time.Hour)
		if err := os.Chtimes(filepath.Join(dir, id+".jsonl"), when, when); err != nil {
			t.Fatal(err)
		}
	}
	left := func() string {
		page, err := s.List(store.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		list := ids(page)
		slices.Sort(list)
		return strings.Join(list, " ")
	}
	age("ses_000", 200)
	age("ses_001", 10)
	age("ses_002", 5)
	swept, err := s.Sweep(t.Context(), store.Limits{KeepDays: 180})
	if err != nil || swept.Sessions != 1 || left() != "ses_001 ses_002 ses_003" {
		t.Errorf("by age: %+v, %v; %s", swept, err, left())
	}
	r, err := s.Open("ses_001", fail(t))
	if err != nil {
		t.Fatal(err)
	}
	age("ses_001", 10)
	swept, err = s.Sweep(t.Context(), store.Limits{MaxBytes: 1})
	if err != nil || swept.Sessions != 1 || left() != "ses_001 ses_003" {
		t.Errorf("by size: %+v, %v; %s: one is open, and one is of today", swept, err, left())
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if swept, err = s.Sweep(t.Context(), store.Limits{}); err != nil || swept.Sessions != 0 {
		t.Errorf("without limits: %+v, %v", swept, err)
	}
	// What crashes left: a file that was written, a blob without and with a session that is not.
	if _, err := s.PutBlob("ses_gone", strings.NewReader("x")); err != nil {
		t.Fatal(err)
	}
	loose := filepath.Join(dir, "blobs", "x.tmp")
	if err := os.WriteFile(loose, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if swept, err = s.Sweep(t.Context(), store.Limits{}); err != nil || swept.Blobs != 0 {
		t.Errorf("within the grace: %+v, %v", swept, err)
	}
	old := time.Now().Add(-2 * time.Hour)
	if err := errors.Join(os.Chtimes(loose, old, old), os.Chtimes(filepath.Join(dir, "ses_gone.blobs"), old, old)); err != nil {
		t.Fatal(err)
	}
	if swept, err = s.Sweep(t.Context(), store.Limits{}); err != nil || swept.Blobs != 1 {
		t.Errorf("after the grace: %+v, %v", swept, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "ses_gone.blobs")); !os.IsNotExist(err) {
		t.Errorf("references of no session: %v", err)
	}
}
