package command_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"acp-agent/capability"
	"acp-agent/internal/testkit/shelltrace"
	"acp-agent/internal/testkit/testreq"
	"acp-agent/permissions/command"
)

var (
	fuzzJudge = flag.Duration("fuzzjudge", testreq.Rounds(2*time.Second, 3*time.Second), "how long TestJudge_DifferentialFuzz makes texts")
	fuzzSeed  = flag.Uint64("fuzzseed", 0, "seed of its texts; 0 takes one from the clock")
	fuzzTexts = flag.String("fuzztexts", "", "a file whose lines are texts as JSON strings, which it judges and runs in place of its own")
)

// fuzzBatch is how many texts run in one namespace.
const fuzzBatch = 64

// TestJudge_FuzzSees holds that the box sees each kind of thing that must not happen.
func TestJudge_FuzzSees(t *testing.T) {
	g := newFuzzWorkspace(t)
	box := g.box(t)
	kinds := map[string]string{
		"touch x": "opens for writing", "cat ../outside": "reads", "cat .env": "reads", "exec 3<>/dev/udp/127.0.0.1/9": "socket", "mkdir y": "changes", "echo x | (cat > z)": "opens for writing",
		"git log --format=%G?": "gpg", "git diff README.md --": "CANARY-HISTORY", "sh -c true": "starts /usr/bin/sh", "ls b": "starts /usr/bin/ls b",
	}
	var list []string
	for text := range kinds {
		list = append(list, text)
	}
	results, err := box.Run(list)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range list {
		v := command.Judge("ls a", g.env())
		if found := strings.Join(offences(v, results[i]), "; "); !strings.Contains(found, kinds[text]) {
			t.Errorf("%q: found %q, want %q", text, found, kinds[text])
		}
	}
}

// TestJudge_HeldInBash holds that what is allowed starts what it names and nothing else in
// a repository whose configuration asks for signatures and has a tag named like a file.
func TestJudge_HeldInBash(t *testing.T) {
	g := newFuzzWorkspace(t)
	f := &differential{box: g.box(t), env: g.env(), seen: map[string]bool{}}
	list := []string{
		"git log", "git log -1 --stat", "git log --format='%h %an%+s'", "git log --pretty=oneline", "git show --stat", "git show --stat HEAD", "git stash list", "git shortlog -s HEAD", "git tag -l", "git branch -v", "git diff", "git diff a", "git diff README.md",
		"git diff -- README.md", "git status", "seq 5", "cat <<'E' | wc -l\ntouch x\nE\nls", "cat a | sed -n 1p | awk '{print $1}'", "(cd src; ls) 2>&1; if [ -f a ]; then cat a; fi",
	}
	count := len(list)
	f.work(t, func() (text string, ok bool) {
		if len(list) == 0 {
			return "", false
		}
		text, list = list[0], list[1:]
		return text, true
	})
	if f.ran != count {
		t.Errorf("%d of %d texts were allowed and run", f.ran, count)
	}
}

// TestJudge_DifferentialFuzz runs the texts that the judge allows in real bash: they start
// the programs that the verdict names, with these arguments, and nothing else; they write
// nothing, connect to nothing, read no secret, and end. make fuzz-judge runs it for long.
func TestJudge_DifferentialFuzz(t *testing.T) {
	g := newFuzzWorkspace(t)
	f := &differential{
		box: g.box(t), env: g.env(), seen: map[string]bool{}, end: time.Now().Add(*fuzzJudge),
	}
	seed := *fuzzSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	var workers sync.WaitGroup
	for i := range min(2, runtime.NumCPU()) {
		g := texts{Rand: rand.New(rand.NewPCG(seed, uint64(i))), rows: caseRows(t)}
		next := func() (string, bool) { return g.text(), time.Now().Before(f.end) }
		if *fuzzTexts != "" {
			if next = f.given(t, *fuzzTexts); i > 0 {
				break
			}
		}
		workers.Go(func() { f.work(t, next) })
	}
	workers.Wait()
	t.Logf("seed %d: %d texts made, %d different ones allowed and run, %d programs started, %d failures", seed, f.made, f.ran, f.programs, f.failed)
	if f.ran == 0 {
		t.Error("no text was allowed")
	}
}

// differential is the state that the workers share.
type differential struct {
	box shelltrace.Box
	env command.Env
	end time.Time

	mu                          sync.Mutex
	seen                        map[string]bool // texts that were allowed
	made, ran, programs, failed int
}

// work makes, judges and runs texts until the end. The failures that it prints are few: a
// fault of the judge shows in many texts.
func (f *differential) work(t *testing.T, next func() (string, bool)) {
	for {
		batch, verdicts := f.batch(next)
		if len(batch) == 0 {
			return
		}
		results, err := f.box.Run(batch)
		if err != nil {
			t.Error(err)
			return
		}
		f.mu.Lock()
		f.ran += len(batch)
		for i, r := range results {
			f.programs += len(r.Programs)
			if found := offences(verdicts[i], r); len(found) > 0 {
				if f.failed++; f.failed <= 20 {
					t.Errorf("%q is allowed and %s", batch[i], strings.Join(found, "; "))
				}
			}
		}
		f.mu.Unlock()
	}
}

// given returns the texts of a file one by one.
func (f *differential) given(t *testing.T, name string) func() (string, bool) {
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	return func() (text string, ok bool) {
		if len(lines) == 0 {
			return "", false
		}
		if err := json.Unmarshal([]byte(lines[0]), &text); err != nil {
			t.Error(err)
		}
		lines = lines[1:]
		return text, true
	}
}

// batch takes texts until enough of them are allowed.
func (f *differential) batch(next func() (string, bool)) (batch []string, verdicts []command.Verdict) {
	made := 0
	for len(batch) < fuzzBatch {
		text, ok := next()
		if !ok {
			break
		}
		made++
		v := command.Judge(text, f.env)
		if v.Action == capability.Allow && f.first(text) {
			batch, verdicts = append(batch, cmp.Or(v.Run, v.Text)), append(verdicts, v)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.made += made
	return batch, verdicts
}

// first reports a text that was not allowed before.
func (f *differential) first(text string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	before := f.seen[text]
	f.seen[text] = true
	return !before
}

// caseRows are the commands of the case file, without the rows that name its directories.
func caseRows(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile("../../testdata/cases/commands.txt")
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if quoted, ok := strings.CutPrefix(line, "json "); ok {
			if err := json.Unmarshal([]byte(quoted), &line); err != nil {
				t.Fatal(err)
			}
		}
		if line != "" && !strings.HasPrefix(line, "== ") && !strings.Contains(line, "@") {
			rows = append(rows, line)
		}
	}
	return slices.Clip(rows)
}
