package audit_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"acp-agent/audit"
)

const id = "ses_1"

// wrote makes a log with records and returns its directory.
func wrote(t *testing.T, records int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "audit")
	more(t, dir, records)
	return dir
}

func more(t *testing.T, dir string, records int) {
	t.Helper()
	log := audit.New(audit.Options{Dir: dir, Session: id, Failed: func(err error) { t.Errorf("append: %v", err) }})
	for i := range records {
		log.Append(audit.Record{Event: audit.End, Call: fmt.Sprint("call", i), Tool: "read", Verdict: "allow"})
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}

func path(dir string) string { return filepath.Join(dir, id+".jsonl") }

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func verify(t *testing.T, dir string) audit.Report {
	t.Helper()
	report, err := audit.Verify(dir, id)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestLog_Lazy(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	log := audit.New(audit.Options{Dir: dir, Session: id})
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	log.Append(audit.Record{Event: audit.End})
	log.Sync()
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory is there: %v", err)
	}
	var none *audit.Log
	none.Append(audit.Record{})
	none.Sync()
	if err := none.Close(); err != nil {
		t.Error(err)
	}
}

func TestLog_Private(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("mode bits mean nothing here")
	}
	dir := wrote(t, 1)
	for name, want := range map[string]os.FileMode{dir: 0o700, path(dir): 0o600, filepath.Join(dir, id+".head"): 0o600} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	failing := func(t *testing.T, prepare func(dir string) error) {
		t.Helper()
		dir := filepath.Join(t.TempDir(), "audit")
		if err := prepare(dir); err != nil {
			t.Fatal(err)
		}
		var failures []error
		log := audit.New(audit.Options{Dir: dir, Session: id, Failed: func(err error) { failures = append(failures, err) }})
		log.Append(audit.Record{Event: audit.End})
		log.Append(audit.Record{Event: audit.End})
		if len(failures) != 1 {
			t.Errorf("told %d times: %v", len(failures), failures)
		}
	}
	failing(t, func(dir string) error { return errors.Join(os.Mkdir(dir, 0o755), os.Chmod(dir, 0o755)) })
	failing(t, func(dir string) error {
		target := filepath.Join(filepath.Dir(dir), "target")
		return errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(target, nil, 0o600), os.Symlink(target, path(dir)))
	})
	failing(t, func(dir string) error {
		return errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(path(dir), nil, 0o644), os.Chmod(path(dir), 0o644))
	})
	failing(t, func(dir string) error { return os.WriteFile(dir, nil, 0o600) })
}

func TestVerify(t *testing.T) {
	lines := func(text string) []string { return strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n") }
	tests := []struct {
		name    string
		tamper  func(text string) string
		line    int
		problem string
	}{
		{"untouched", func(s string) string { return s }, 0, ""},
		{"edited", func(s string) string { return strings.Replace(s, `"call":"call2"`, `"call":"call9"`, 1) }, 3, "its content is not"},
		{"edited without a trace in the text", func(s string) string { return strings.Replace(s, `"call":"call2"`, `"call" :"call2"`, 1) }, 3, "its content is not"},
		{"a hash edited", func(s string) string {
			l := lines(s)
			l[2] = strings.Replace(l[2], `"hash":"`, `"hash":"0`, 1)
			return strings.Join(l, "")
		}, 3, "not a record"},
		{"the first removed", func(s string) string { return strings.Join(lines(s)[1:], "") }, 1, "what was between is gone"},
		{"one removed", func(s string) string { return strings.Join(slices.Delete(lines(s), 2, 3), "") }, 3, "what was between is gone"},
		{"two swapped", func(s string) string {
			l := lines(s)
			l[1], l[2] = l[2], l[1]
			return strings.Join(l, "")
		}, 2, "what was between is gone"},
		{"one repeated", func(s string) string { return strings.Join(slices.Insert(lines(s), 2, lines(s)[1]), "") }, 3, "moved or repeated"},
		{"a line put in", func(s string) string { return strings.Join(slices.Insert(lines(s), 2, "{}\n"), "") }, 3, "not a record"},
		{"the last removed", func(s string) string { return strings.Join(lines(s)[:4], "") }, 4, "the end is gone"},
		{"the last cut", func(s string) string { return s[:len(s)-10] }, 5, "the end is gone"},
		{"all removed", func(string) string { return "" }, 0, "the end is gone"},
		{"something behind the end", func(s string) string { return s + "x\n" }, 6, "not a record"},
		{"a cut line behind the end", func(s string) string { return s + `{"v":1` }, 0, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := wrote(t, 5)
			if err := os.WriteFile(path(dir), []byte(test.tamper(read(t, path(dir)))), 0o600); err != nil {
				t.Fatal(err)
			}
			got := verify(t, dir)
			if test.problem == "" {
				if got.Problem != "" || got.Records != 5 {
					t.Errorf("%+v", got)
				}
				return
			}
			if !strings.Contains(got.Problem, test.problem) || got.Line != test.line {
				t.Errorf("line %d: %q; want line %d: %q", got.Line, got.Problem, test.line, test.problem)
			}
		})
	}
}

// What was written of one session does not pass for another's.
func TestVerify_OtherSession(t *testing.T) {
	dir := wrote(t, 2)
	for _, end := range []string{".jsonl", ".head"} {
		if err := os.WriteFile(filepath.Join(dir, "ses_2"+end), []byte(read(t, filepath.Join(dir, id+end))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	report, err := audit.Verify(dir, "ses_2")
	if err != nil || !strings.Contains(report.Problem, "belongs to the session ses_1") {
		t.Errorf("%+v, %v", report, err)
	}
	if _, err := audit.Verify(dir, "../ses_1"); err == nil || errors.Is(err, os.ErrNotExist) {
		t.Errorf("an id that is a path: %v", err)
	}
}

func TestVerify_Head(t *testing.T) {
	for name, spoil := range map[string]func(head string) error{
		"removed": os.Remove,
		"emptied": func(head string) error { return os.Truncate(head, 0) },
		"another": func(head string) error {
			return os.WriteFile(head, fmt.Appendf(nil, "%020d %s\n", 1, strings.Repeat("0", 64)), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := wrote(t, 3)
			if err := spoil(filepath.Join(dir, id+".head")); err != nil {
				t.Fatal(err)
			}
			if got := verify(t, dir); got.Problem == "" {
				t.Errorf("%+v", got)
			}
		})
	}
}

// A write that is cut anywhere, with the head behind by it, is what a crash leaves: it
// is said, and the chain goes on behind it.
func TestLog_RecoversFromACutLine(t *testing.T) {
	whole := wrote(t, 3)
	text := read(t, path(whole))
	second := strings.LastIndex(text[:len(text)-1], "\n") + 1
	head := read(t, filepath.Join(wroteTwo(t, text[:second]), id+".head"))
	for cut := second; cut <= len(text); cut++ {
		dir := filepath.Join(t.TempDir(), "audit")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.WriteFile(path(dir), []byte(text[:cut]), 0o600), os.WriteFile(filepath.Join(dir, id+".head"), []byte(head), 0o600)); err != nil {
			t.Fatal(err)
		}
		before := verify(t, dir)
		if before.Problem != "" || cut > second && len(before.Notes) == 0 {
			t.Fatalf("cut at %d: %+v", cut-second, before)
		}
		more(t, dir, 2)
		after := verify(t, dir)
		if after.Problem != "" {
			t.Fatalf("cut at %d and gone on: %+v\n%s", cut-second, after, read(t, path(dir)))
		}
		if broken := cut > second && cut < len(text)-1; broken && len(after.Notes) != 1 {
			t.Fatalf("cut at %d: nothing is said of it: %+v", cut-second, after)
		}
	}
}

// wroteTwo makes a directory whose head is that of two records.
func wroteTwo(t *testing.T, text string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "audit")
	if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(path(dir), []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
	var last struct{ Hash string }
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, id+".head"), fmt.Appendf(nil, "%020d %s\n", len(lines), last.Hash), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestLog_Contents(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	log := audit.New(audit.Options{
		Dir: dir, Session: id, Clean: func(s string) string { return strings.ReplaceAll(s, "canary", "[redacted]") },
		Now: func() time.Time { return time.Unix(1, 0) },
	})
	args := `{"path":"/w/canary.txt","content":"the contents","cmd":"echo canary <b>","edits":[{"old_str":"old text","file":"/w/b"}],"n":1,"long":{"path":"` +
		strings.Repeat("p", 5000) + `"},"canary":true}`
	var given any
	if err := json.Unmarshal([]byte(args), &given); err != nil {
		t.Fatal(err)
	}
	log.Append(audit.Record{
		Event: audit.End, Tool: "canary", Given: given, Reason: "canary", Asked: "canary", Error: "canary", By: "canary", Unseen: "canary",
		Touches: []string{"/w/canary.txt"}, Changes: []audit.Change{{Path: "/w/canary.txt", Op: "create"}},
	})
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	text := read(t, path(dir))
	for _, never := range []string{"canary", "the contents", "old text", "ppppp"} {
		if strings.Contains(text, never) {
			t.Errorf("%q is in %s", never, text)
		}
	}
	for _, want := range []string{`"/w/[redacted].txt"`, `"cmd":"echo [redacted] \u003cb\u003e"`, `"n":1`, `"bytes":12`, `"file":"/w/b"`, `"time":"1970-01-01T00:00:01Z"`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
	if got := verify(t, dir); got.Problem != "" {
		t.Errorf("%+v", got)
	}
}

func TestLog_Full(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	var told []error
	log := audit.New(audit.Options{Dir: dir, Session: id, MaxBytes: 1500, Failed: func(err error) { told = append(told, err) }})
	for range 20 {
		log.Append(audit.Record{Event: audit.End, Tool: "read"})
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if len(told) != 1 || !errors.Is(told[0], audit.ErrFull) {
		t.Errorf("told %v", told)
	}
	text := read(t, path(dir))
	if len(text) > 2000 || !strings.Contains(text, `"event":"full"`) {
		t.Errorf("%d bytes: %s", len(text), text)
	}
	if got := verify(t, dir); got.Problem != "" {
		t.Errorf("%+v", got)
	}
	next := audit.New(audit.Options{Dir: dir, Session: id})
	next.Append(audit.Record{Event: audit.End})
	if err := next.Close(); err != nil {
		t.Fatal(err)
	}
	if again := read(t, path(dir)); again != text {
		t.Errorf("a full file grew: %s", again[len(text):])
	}
}

func TestLog_Concurrent(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	log := audit.New(audit.Options{Dir: dir, Session: id})
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			for range 10 {
				log.Append(audit.Record{Event: audit.End})
				log.Sync()
			}
		})
	}
	group.Wait()
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if got := verify(t, dir); got.Problem != "" || got.Records != 200 {
		t.Errorf("%+v", got)
	}
}

func TestRead_Sessions_Sweep(t *testing.T) {
	dir := wrote(t, 2)
	calls := 0
	if err := audit.Read(dir, id, func(r audit.Record, line []byte) error {
		calls++
		if r.Seq != int64(calls) || !bytes.Contains(line, []byte(`"hash"`)) {
			t.Errorf("%+v %s", r, line)
		}
		return nil
	}); err != nil || calls != 2 {
		t.Errorf("%d records, %v", calls, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if list, err := audit.Sessions(dir); err != nil || !slices.Equal(list, []string{id}) {
		t.Errorf("%v, %v", list, err)
	}
	for _, step := range []struct {
		since time.Time
		want  int
	}{{time.Now().Add(-time.Hour), 0}, {time.Now().Add(time.Hour), 1}} {
		if removed, err := audit.Sweep(dir, step.since); err != nil || removed != step.want {
			t.Errorf("removed %d, %v; want %d", removed, err, step.want)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 || left[0].Name() != "notes.txt" {
		t.Errorf("left %v, %v", left, err)
	}
	if removed, err := audit.Sweep(filepath.Join(dir, "no"), time.Now()); removed != 0 || err != nil {
		t.Errorf("a directory that is not there: %d, %v", removed, err)
	}
}

func FuzzVerify(f *testing.F) {
	f.Add([]byte(`{"v":1,"seq":1}`), []byte("x"))
	f.Fuzz(func(t *testing.T, file, head []byte) {
		dir := t.TempDir()
		if err := errors.Join(os.WriteFile(path(dir), file, 0o600), os.WriteFile(filepath.Join(dir, id+".head"), head, 0o600)); err != nil {
			t.Fatal(err)
		}
		report, err := audit.Verify(dir, id)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(file, []byte("\n")) && report.Records == 0 && report.Problem == "" {
			t.Errorf("whole lines without a record pass: %q", file)
		}
	})
}

func BenchmarkLog(b *testing.B) {
	log := audit.New(audit.Options{Dir: filepath.Join(b.TempDir(), "audit"), Session: id})
	defer log.Close()
	r := audit.Record{Event: audit.End, Call: "call", Tool: "read", Given: map[string]any{"path": "/w/a"}, Touches: []string{"/w/a"}, Verdict: "allow", By: "rule:default read", State: "done"}
	for b.Loop() {
		log.Append(r)
	}
}

func BenchmarkLog_Synced(b *testing.B) {
	log := audit.New(audit.Options{Dir: filepath.Join(b.TempDir(), "audit"), Session: id})
	defer log.Close()
	for b.Loop() {
		log.Append(audit.Record{Event: audit.Begin, Call: "call", Tool: "bash", Verdict: "allow"})
		log.Sync()
	}
}
