package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// The crowd of subagents that edit the same files: how many, how many of them at once, and
// how often each edits each file.
const (
	crowd        = 20
	crowdRunning = 8
	crowdFiles   = 5
	crowdRounds  = 20
)

// crowdAgent may do nothing but edit, and as often as it takes.
const crowdAgent = "---\nname: editor\ndescription: Edits.\nmode: subagent\ntools: [edit]\npermissions: inherit\nlimits: {cycles: 100}\n---\nYou edit what you are told to.\n"

// family measures subagents, each scenario in a process of its own, so that its memory is
// told apart from that of the rows above. The floor has no subagents.
func (r *run) family() error {
	if r.only.MatchString("delegation") {
		if err := r.delegation(); err != nil {
			return fmt.Errorf("delegation: %w", err)
		}
	}
	if r.only.MatchString("crowd") {
		if err := r.crowd(); err != nil {
			return fmt.Errorf("crowd: %w", err)
		}
	}
	return nil
}

// delegation measures a turn of three reads and an answer, and one in which a subagent
// makes two of these four model calls: the main agent delegates, the subagent reads and
// answers, the main agent answers. What it takes above the first is what it costs to be a
// subagent.
func (r *run) delegation() error {
	s, err := r.fresh("delegation", nil)
	if err != nil {
		return err
	}
	defer s.stop()
	session, _, err := s.open()
	if err != nil {
		return err
	}
	files, err := s.files(3)
	if err != nil {
		return err
	}
	turn := func(text string, steps ...string) func(int) (time.Duration, error) {
		return func(int) (time.Duration, error) {
			r.model.steps(steps...)
			return s.prompt(session, text)
		}
	}
	read := func(i int) string { return calling(fmt.Sprint("d", i), "read", files[i]) }
	task := calling("t", "task", map[string]any{"subagent_type": "explore", "prompt": "read"})
	alone := turn("read", read(0), read(1), read(2), say("done", 1))
	delegated := turn("delegate", task, read(0), say("done", 1), say("done", 1))
	var plain, above, ratio []float64
	for i := range 41 { // in turns, since the conversation grows
		one, err := alone(i)
		if err != nil {
			return err
		}
		other, err := delegated(i)
		if err != nil {
			return err
		}
		if i > 0 { // the first ones warm up
			plain, above = append(plain, milliseconds(one)), append(above, milliseconds(other-one))
			ratio = append(ratio, milliseconds(other)/milliseconds(one))
		}
	}
	r.results.add("turn with four model calls", s.name, median(plain))
	r.results.add("two of them by a subagent, above it", s.name, median(above))
	r.results.add("two of them by a subagent, over it", s.name, median(ratio))
	return nil
}

// crowd has subagents edit the same files side by side, and fails when an edit is lost.
func (r *run) crowd() error {
	s, err := r.fresh("crowd", map[string]string{
		".agents/agents/editor.md":      crowdAgent,
		"config/acp-agent/config.jsonc": fmt.Sprintf(`{"mode": "code", "limits": {"concurrent": %d}, "subagents": {"running": %d}}`, crowd, crowdRunning),
	})
	if err != nil {
		return err
	}
	defer s.stop()
	session, _, err := s.open()
	if err != nil {
		return err
	}
	for file := range crowdFiles {
		if err := os.WriteFile(s.project(crowdFile(file)), []byte(crowdText(0)), 0o644); err != nil {
			return err
		}
	}
	idle, _, err := memoryOf(s.cmd.Process.Pid)
	if err != nil {
		return err
	}
	r.crowdModel()
	took, err := s.prompt(session, "work")
	if err != nil {
		return err
	}
	_, peak, err := memoryOf(s.cmd.Process.Pid)
	if err != nil {
		return err
	}
	for file := range crowdFiles {
		if got, err := os.ReadFile(s.project(crowdFile(file))); err != nil || string(got) != crowdText(crowdRounds) {
			return fmt.Errorf("%s has lost edits, %w: %s", crowdFile(file), err, got)
		}
	}
	const edits = crowd * crowdFiles * crowdRounds
	r.results.add("20 subagents, 2000 edits, per edit", s.name, milliseconds(took)/edits)
	r.results.add("20 subagents, peak memory, RSS", s.name, peak)
	r.results.add("20 subagents, above one idle session", s.name, peak-idle)
	return nil
}

func crowdFile(n int) string { return fmt.Sprintf("crowd%d.txt", n) }

// crowdText is a file in which each editor has made so many edits.
func crowdText(edits int) string {
	var b strings.Builder
	for n := range crowd {
		b.WriteString(crowdLine(n, edits))
	}
	return b.String()
}

func crowdLine(editor, edits int) string { return fmt.Sprintf("editor %02d: %d\n", editor, edits) }

var crowdPrompt = regexp.MustCompile(`you are editor (\d\d)`)

// crowdModel answers the main agent, and each of its subagents by its prompt and by how
// far it is.
func (r *run) crowdModel() {
	var tasks []map[string]any
	answers := make([][]string, crowd)
	for n := range crowd {
		tasks = append(tasks, map[string]any{"subagent_type": "editor", "prompt": fmt.Sprintf("you are editor %02d", n)})
		for round := range crowdRounds {
			var edits []map[string]any
			for file := range crowdFiles {
				edits = append(edits, map[string]any{"path": crowdFile(file), "old_str": crowdLine(n, round), "new_str": crowdLine(n, round+1)})
			}
			answers[n] = append(answers[n], calling(fmt.Sprintf("c%d_%d", n, round), "edit", edits...))
		}
		answers[n] = append(answers[n], say("done", 1))
	}
	start, end := calling("crowd", "task", tasks...), say("done", 1)
	r.model.play.Store(&script{answer: func(_ int, w http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		if err != nil {
			return
		}
		steps := bytes.Count(body, []byte(`"role":"assistant"`))
		switch editor := crowdPrompt.FindSubmatch(body); {
		case bytes.Contains(body, []byte("You edit what you are told to.")) && editor != nil:
			n, _ := strconv.Atoi(string(editor[1])) // two digits
			_, _ = io.WriteString(w, answers[n][steps])
		case steps == 0:
			_, _ = io.WriteString(w, start)
		default:
			_, _ = io.WriteString(w, end)
		}
	}})
}

// fresh starts the agent in a home of its own, with these files in it.
func (r *run) fresh(name string, files map[string]string, args ...string) (*subject, error) {
	home := filepath.Join(r.dir, name)
	for path, text := range files {
		path = filepath.Join(home, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	s, err := start(r.ctx, "agent", r.binaries["agent"], home, r.model.URL, args...)
	if err != nil {
		return nil, err
	}
	return s, s.initialize()
}
