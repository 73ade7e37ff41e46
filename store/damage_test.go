package store_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"acp-agent/internal/testkit/testreq"
	"acp-agent/store"
	"acp-agent/transcript"
)

// recorded is the file of a session with everything in it.
func recorded(t testing.TB, turns int) []byte {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "sessions")
	s := store.New(store.Options{Dir: dir})
	r := s.Create(store.Info{ID: "ses_x", Cwd: cwd}, fail(t))
	live := newStream(7, r.Emit)
	for range turns {
		live.turn(3)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "ses_x.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// readDamaged loads a damaged file and goes on with it, and returns what is readable before and
// after. n is the number of the case.
func readDamaged(t *testing.T, data []byte, n int) (st *store.Stored, before, after transcript.Snapshot) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "sessions")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "ses_x.jsonl"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	s := store.WithFiles(store.Options{Dir: dir}, unsynced)
	st, before = load(t, s, "ses_x")
	r, err := s.Open("ses_x", fail(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Resume(t.Context(), at, nil); err != nil {
		t.Fatal(err)
	}
	say(r, "msg_new", "go on")
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	again, after := load(t, s, "ses_x")
	if again.Damage.Torn > 0 {
		t.Errorf("the torn end is not cut: %+v", again.Damage)
	}
	if n%searched == 0 {
		if _, err := s.List(store.ListOptions{Cwd: cwd}); err != nil {
			t.Error(err)
		}
		if _, err := s.Search(t.Context(), store.Query{Text: "word"}); err != nil {
			t.Error(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	return st, before, after
}

// unsynced opens a file that is not synchronized, for no test here cuts the power.
func unsynced(path string, flags int) (store.File, error) {
	f, err := os.OpenFile(path, flags, 0o600)
	return unsyncedFile{f}, err
}

type unsyncedFile struct{ *os.File }

func (unsyncedFile) Sync() error { return nil }

// linesOf counts the whole lines of a file.
func linesOf(data []byte) int { return bytes.Count(data, []byte("\n")) }

func TestDamage_CutAnywhere(t *testing.T) {
	t.Parallel()
	data := recorded(t, 1)
	random := rand.New(rand.NewPCG(1, 1))
	for i := range *damages {
		cut := random.IntN(len(data))
		if i == 0 {
			cut = len(data) - 1 // of the last line only the end is missing
		}
		st, _, after := readDamaged(t, data[:cut], i)
		if !st.Damage.None() {
			t.Fatalf("cut at %d: %+v", cut, st.Damage)
		}
		torn := int64(cut - 1 - bytes.LastIndexByte(data[:cut], '\n'))
		if st.Damage.Torn != torn && cut+1 < len(data) && data[cut] != '\n' {
			t.Fatalf("cut at %d: torn %d, want %d", cut, st.Damage.Torn, torn)
		}
		if last := after.Messages[len(after.Messages)-1]; last.ID != "msg_new" {
			t.Fatalf("cut at %d: the message after it is not stored: %v", cut, texts(after))
		}
	}
}

func TestDamage_FlippedAnywhere(t *testing.T) {
	t.Parallel()
	data := recorded(t, 1)
	random := rand.New(rand.NewPCG(2, 2))
	whole := linesOf(data)
	for i := range *damages {
		flipped := slices.Clone(data)
		where := random.IntN(len(data))
		flipped[where] ^= 1 << random.IntN(8)
		st, _, after := readDamaged(t, flipped, i)
		lost := int64(st.Damage.Lines) + st.Damage.Missing
		if st.Damage.Torn > 0 {
			lost++ // the last line
		}
		// A line that loses its end, or gains one, is the worst: it costs two at most.
		if lost < 1 || lost > 2 {
			t.Fatalf("bit at %d of %d lines: %+v, torn %d", where, whole, st.Damage, st.Damage.Torn)
		}
		if st.Damage.Lines > 0 {
			begin := int64(bytes.LastIndexByte(data[:where], '\n') + 1)
			if st.Damage.Offsets[0] != begin {
				t.Fatalf("bit at %d: offset %d, want %d", where, st.Damage.Offsets[0], begin)
			}
			if !strings.Contains(st.Damage.String(), "damaged") {
				t.Fatal(st.Damage.String())
			}
		}
		if last := after.Messages[len(after.Messages)-1]; last.ID != "msg_new" {
			t.Fatalf("bit at %d: the message after it is not stored", where)
		}
	}
}

// TestDamage_LineCostsItself holds that every other message and part is read.
func TestDamage_LineCostsItself(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sessions")
	s := store.New(store.Options{Dir: dir})
	r := s.Create(store.Info{ID: "ses_x", Cwd: cwd}, fail(t))
	say(r, "msg_1", "one")
	answer(r, "msg_2", "two")
	say(r, "msg_3", "three")
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "ses_x.jsonl")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for word, want := range map[string]string{"two": "one||three", "one": "|two|three", `"id":"msg_3"`: "one|two|three"} {
		broken := bytes.Replace(data, []byte(word), bytes.ToUpper([]byte(word)), 1)
		if err := os.WriteFile(name, broken, 0o600); err != nil {
			t.Fatal(err)
		}
		st, got := load(t, s, "ses_x")
		if strings.Join(texts(got), "|") != want || st.Damage.Lines != 1 || st.Damage.Missing != 0 || st.Info.Cwd != cwd {
			t.Errorf("%s: %q, %+v", word, texts(got), st.Damage)
		}
		if last := got.Messages[len(got.Messages)-1]; last.Role != transcript.User {
			t.Errorf("%s: the last message is of %s", word, last.Role)
		}
	}
	removed := append(slices.Clone(data[:bytes.Index(data, []byte("\n"))+1]), data[bytes.LastIndexByte(data[:len(data)-1], '\n')+1:]...)
	if err := os.WriteFile(name, removed, 0o600); err != nil {
		t.Fatal(err)
	}
	if st, _ := load(t, s, "ses_x"); st.Damage.None() || st.Damage.Missing != int64(linesOf(data)-2) {
		t.Errorf("lines that are not there: %+v", st.Damage)
	}
}

func TestStored_NewerVersion(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sessions")
	s := store.New(store.Options{Dir: dir})
	r := s.Create(store.Info{ID: "ses_x", Cwd: cwd}, fail(t))
	say(r, "msg_1", "one")
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "ses_x.jsonl")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var newer []byte
	for text := range bytes.Lines(data) {
		newer = append(newer, store.Rewrite(bytes.TrimSpace(text), func(data []byte) []byte {
			return bytes.Replace(data, []byte(`"version":1`), []byte(`"version":2`), 1)
		})...)
	}
	if err := os.WriteFile(name, newer, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load("ses_x"); err == nil || !strings.Contains(err.Error(), "version 2") {
		t.Errorf("Load: %v", err)
	}
}

// damages is how many damages of each kind are tried; make long tries many more.
var damages = flag.Int("damages", testreq.Rounds(100, 200), "how many damages of a stored session are tried")

// searched says which damages are searched and listed, too: every tenth.
const searched = 10

// TestScan_LongLine has lines that are too long to be records, the last without an end.
func TestScan_LongLine(t *testing.T) {
	t.Parallel()
	const long = 65 << 20
	x := endless(strings.Repeat("x", 1<<20))
	var got []string
	var last int64
	text := io.MultiReader(strings.NewReader("a\n"), io.LimitReader(x, long), strings.NewReader("\nb\n"), io.LimitReader(x, long))
	err := store.Scan(text, func(at, end int64, text []byte, ended bool) {
		if at != last {
			t.Errorf("a line at %d, want %d", at, last)
		}
		last = end
		got = append(got, string(text))
	})
	if want := []string{"a", "", "b", ""}; err != nil || last != 2*long+5 || !slices.Equal(got, want) {
		t.Errorf("lines %q, the last ends at %d, %v", got, last, err)
	}
}

// endless is a line without an end, of copies of a text.
type endless string

func (e endless) Read(p []byte) (int, error) { return copy(p, e), nil }

// FuzzScan gives the line reader anything: it never fails, sees every byte, and what it takes for
// a record is one.
func FuzzScan(f *testing.F) {
	data := recorded(f, 1)
	f.Add(data[:min(len(data), 4000)])
	f.Add([]byte("\n\n{}\n"))
	f.Add([]byte(`{"type":"part","seq":1,"at":1,"n":99999999999,"data":1,"sum":"00000000"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		seen := 0
		err := store.Scan(bytes.NewReader(data), func(at, end int64, text []byte, ended bool) {
			line := data[at:end]
			if int(at) != seen || ended != bytes.HasSuffix(line, []byte("\n")) || !bytes.Equal(bytes.TrimSuffix(line, []byte("\n")), text) {
				t.Fatalf("a line from %d to %d, %q, after %d", at, end, text, seen)
			}
			seen = int(end)
			again, err := store.Parse(text)
			if err == nil && !bytes.Equal(bytes.TrimSuffix(again, []byte("\n")), text) {
				t.Fatalf("%q is read as %q", text, again)
			}
		})
		if err != nil || seen != len(data) {
			t.Fatalf("%d of %d bytes, %v", seen, len(data), err)
		}
	})
}

// FuzzLoad puts lines with right checksums and any content into a session.
func FuzzLoad(f *testing.F) {
	for text := range bytes.Lines(recorded(f, 1)) {
		f.Add(bytes.TrimSpace(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if bytes.IndexByte(text, '\n') >= 0 {
			return
		}
		dir := filepath.Join(t.TempDir(), "sessions")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "ses_x.jsonl"), store.Seal(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s := store.New(store.Options{Dir: dir})
		st, err := s.Load("ses_x")
		if err != nil {
			return
		}
		for m, err := range st.Messages() {
			if err != nil || m == nil {
				t.Fatal(m, err)
			}
		}
	})
}

// FuzzClean holds that what is cleaned is JSON as before.
func FuzzClean(f *testing.F) {
	f.Add([]byte(`{"a":["secret-value","\u0073ecret-value"],"replay":"secret-value","b":{"secret-value":1.5e3}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var value any
		if json.Unmarshal(data, &value) != nil {
			return
		}
		compact, err := json.Marshal(value)
		if err != nil {
			return
		}
		cleaned := store.CleanJSON(compact, func(s string) string { return strings.ReplaceAll(s, "secret-value", "[redacted]") }, nil)
		if !json.Valid(cleaned) || bytes.Contains(cleaned, []byte("secret-value")) {
			t.Fatalf("%s is cleaned to %s", compact, cleaned)
		}
	})
}
