package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"acp-agent/store"
	"acp-agent/transcript"
)

// disk makes files fail: call number at of the kind that fails does, and those after it until
// the disk is well again.
type disk struct {
	mu      sync.Mutex
	calls   map[string]int
	kind    string
	at, end int
	short   bool // a write that fails has written half
}

func (d *disk) fails(kind string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls[kind]++
	return kind == d.kind && d.calls[kind] >= d.at && d.calls[kind] < d.end
}

func (d *disk) open(path string, flags int) (store.File, error) {
	if d.fails("open") {
		return nil, errFull
	}
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil, err
	}
	return &diskFile{File: f, disk: d}, nil
}

var errFull = errors.New("no space left on device")

type diskFile struct {
	*os.File
	disk *disk
}

func (f *diskFile) Write(p []byte) (int, error) {
	if f.disk.fails("write") {
		if f.disk.short {
			n, _ := f.File.Write(p[:len(p)/2])
			return n, errFull
		}
		return 0, errFull
	}
	return f.File.Write(p)
}

func (f *diskFile) WriteAt(p []byte, at int64) (int, error) {
	if f.disk.fails("write at") {
		return 0, errFull
	}
	return f.File.WriteAt(p, at)
}

func (f *diskFile) Sync() error {
	if f.disk.fails("sync") {
		return errFull
	}
	return f.File.Sync()
}

func (f *diskFile) Truncate(size int64) error {
	if f.disk.fails("truncate") {
		return errFull
	}
	return f.File.Truncate(size)
}

// TestRecorder_FaultsOfTheDisk makes each call fail in turn, once and for a while. The session
// goes on, the fault is told once, and when the disk is well again everything is stored.
func TestRecorder_FaultsOfTheDisk(t *testing.T) {
	for _, kind := range []string{"open", "write", "sync", "truncate", "write at"} {
		for _, short := range []bool{false, true} {
			if short && kind != "write" {
				continue
			}
			for _, length := range []int{1, 5} {
				for at := 1; ; at++ {
					d := &disk{calls: map[string]int{}, kind: kind, at: at, end: at + length, short: short}
					if !runOnBadDisk(t, d) {
						break // there are fewer calls
					}
					if testing.Short() && at > 3 {
						break
					}
				}
			}
		}
	}
}

// runOnBadDisk reports whether the disk failed.
func runOnBadDisk(t *testing.T, d *disk) bool {
	t.Helper()
	name := d.kind
	dir := filepath.Join(t.TempDir(), "sessions")
	s := store.WithFiles(store.Options{Dir: dir, GroupDelay: 1}, d.open)
	told := 0
	r := s.Create(store.Info{ID: "ses_x", Cwd: cwd}, func(err error) {
		if !errors.Is(err, errFull) {
			t.Errorf("%s %d: %v", name, d.at, err)
		}
		told++
	})
	live := newStream(3, r.Emit)
	live.turn(2)
	// The disk is well again, and the boundary writes what is missing.
	d.mu.Lock()
	failed := d.calls[d.kind] >= d.at
	d.end = 0
	d.mu.Unlock()
	live.turn(1)
	_, got := load(t, s, "ses_x")
	want := transcript.Snapshot{Messages: live.log.Record(), Memory: live.log.Memory()}
	if diff := cmp.Diff(want, got, records, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("%s %d (-want +got):\n%s", name, d.at, diff)
	}
	if err := errors.Join(r.Close(), s.Close()); err != nil {
		t.Errorf("%s %d: %v", name, d.at, err)
	}
	if told > 1 || failed && told == 0 {
		t.Errorf("%s %d: told %d times", name, d.at, told)
	}
	if r.Err() != nil {
		t.Errorf("%s %d: the fault stays: %v", name, d.at, r.Err())
	}
	st, got := load(t, s, "ses_x")
	if diff := cmp.Diff(want, got, records, cmpopts.EquateEmpty()); diff != "" || !st.Damage.None() || st.Damage.Torn > 0 {
		t.Fatalf("%s %d closed, %+v (-want +got):\n%s", name, d.at, st.Damage, diff)
	}
	return failed
}

// TestRecorder_ReadOnlyDirectory is a session whose directory can be written later alone.
func TestRecorder_ReadOnlyDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sessions")
	if err := os.WriteFile(dir, nil, 0o600); err != nil { // stands in the way, also for root
		t.Fatal(err)
	}
	s := store.New(store.Options{Dir: dir})
	var told []error
	r := s.Create(store.Info{ID: "ses_x", Cwd: cwd}, func(err error) { told = append(told, err) })
	say(r, "msg_1", "one")
	answer(r, "msg_2", "two")
	if len(told) != 1 || r.Err() == nil {
		t.Errorf("told %v, Err %v", told, r.Err())
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	say(r, "msg_3", "three")
	if _, got := load(t, s, "ses_x"); strings.Join(texts(got), " ") != "one two three" || r.Err() != nil {
		t.Errorf("%v, %v", texts(got), r.Err())
	}
	if err := errors.Join(r.Close(), s.Close()); err != nil {
		t.Error(err)
	}
}

// TestRecorder_DirectoryRemoved removes the directory under a session. The next boundary brings
// everything back, and the session is open to no other process.
func TestRecorder_DirectoryRemoved(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be removed")
	}
	dir := filepath.Join(t.TempDir(), "sessions")
	s := store.New(store.Options{Dir: dir})
	var told []error
	r := s.Create(store.Info{ID: "ses_x", Cwd: cwd}, func(err error) { told = append(told, err) })
	say(r, "msg_1", "one")
	r.Emit(transcript.TurnFinished{})
	remove := func() {
		t.Helper()
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	remove()
	answer(r, "msg_2", "two")
	r.Emit(transcript.TurnFinished{})
	if _, got := load(t, s, "ses_x"); strings.Join(texts(got), " ") != "one two" || len(told) > 0 {
		t.Errorf("%v, told %v", texts(got), told)
	}
	other := store.New(store.Options{Dir: dir, LockWait: 1})
	if _, err := other.Open("ses_x", nil); !isBusy(err, os.Getpid()) {
		t.Errorf("another Store opens it: %v", err)
	}

	// It cannot be made anew for a while.
	remove()
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	say(r, "msg_3", "three")
	r.Emit(transcript.TurnFinished{})
	answer(r, "msg_4", "four")
	r.Emit(transcript.TurnFinished{})
	if len(told) != 1 || r.Err() == nil {
		t.Errorf("told %v, Err %v", told, r.Err())
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	say(r, "msg_5", "five")
	if _, got := load(t, s, "ses_x"); strings.Join(texts(got), " ") != "one two three four five" || r.Err() != nil {
		t.Errorf("%v, %v", texts(got), r.Err())
	}
	if err := errors.Join(r.Close(), s.Close(), other.Close()); err != nil {
		t.Error(err)
	}
}
