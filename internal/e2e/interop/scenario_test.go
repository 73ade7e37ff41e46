//go:build unix

package interop

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/testkit/testreq"
)

// What the client offers in one run of the scenario.
type interopClient struct {
	read, write, terminal, meta bool
}

func (c interopClient) String() string {
	return fmt.Sprintf("read=%t,write=%t,terminal=%t,terminal_output=%t", c.read, c.write, c.terminal, c.meta)
}

// owns reports whether edits go through the editor.
func (c interopClient) owns() bool { return c.read && c.write }

// clientTerminal reports whether commands run in the client's terminals: a terminal of
// our own is preferred where both are offered.
func (c interopClient) clientTerminal() bool { return c.terminal && !c.meta }

func (c interopClient) capabilities() map[string]any {
	all := map[string]any{
		"fs":       map[string]any{"readTextFile": c.read, "writeTextFile": c.write},
		"terminal": c.terminal,
	}
	if c.meta {
		all["_meta"] = map[string]any{"terminal_output": true}
	}
	return all
}

// The project: a script to repair, and notes with unsaved work in the editor.
const (
	greetBefore = "#!/bin/sh\necho \"Helo, $1!\"\n"
	greetAfter  = "#!/bin/sh\necho \"Hello, $1!\"\n"
	notesDisk   = "words on the disk\n"
	notesBuffer = "words in the editor\n"
	command     = "sh ./greet.sh World\nprintf '%s\\n' second"
	lastText    = "Both lines are there."
)

// The steps of the scenario, by their place.
const (
	stepRepair = iota
	stepReject
	stepCancelCommand
	stepCancelQuestion
	stepCancelModel
	stepCodeMode
	stepEditFreely
	stepAskOption
	stepClose
	stepClosed
)

func interopSteps() []interopStep {
	return []interopStep{
		stepRepair:         {Do: "prompt", Text: "repair", Answer: "allow"},
		stepReject:         {Do: "prompt", Text: "reject", Answer: "reject"},
		stepCancelCommand:  {Do: "prompt", Text: "cancel the command", Answer: "allow", CancelOn: &interopSight{File: "pid"}},
		stepCancelQuestion: {Do: "prompt", Text: "cancel the question", Answer: "cancel"},
		stepCancelModel:    {Do: "prompt", Text: "cancel the model", CancelOn: &interopSight{Update: "agent_message_chunk"}},
		stepCodeMode:       {Do: "mode", Mode: "code"},
		stepEditFreely:     {Do: "prompt", Text: "edit freely"},
		stepAskOption:      {Do: "option", Option: "mode", Value: "ask"},
		stepClose:          {Do: "close"},
		stepClosed:         {Do: "prompt", Text: "repair"},
	}
}

// interopScript is what the model answers. Its expectations hold what the model has to
// see, which depends on whether the editor's unsaved text can be read.
func interopScript(c interopClient) string {
	notes := "words on the disk"
	freely := "Edited"
	if c.read {
		notes = "words in the editor"
		if !c.write {
			freely = "unsaved changes"
		}
	}
	edit := func(path, from, to string) any {
		return []any{map[string]any{"name": "edit", "args": map[string]any{"path": path, "old_str": from, "new_str": to}}}
	}
	bash := func(cmd string) any {
		return []any{map[string]any{"name": "bash", "args": map[string]any{"cmd": cmd}}}
	}
	expect := func(result string) any { return map[string]any{"last_result": result} }
	steps := []map[string]any{
		{"when": "^repair$", "say": "I will read the notes.", "call": []any{
			map[string]any{"name": "read", "args": map[string]any{"path": "notes.txt"}},
		}},
		{"expect": expect(notes), "call": edit("greet.sh", "Helo", "Hello")},
		{"expect": expect("Edited"), "call": bash(command)},
		{"expect": expect("Hello, World!\nsecond"), "say": lastText, "chunk": 3},

		{"when": "^reject$", "call": edit("greet.sh", "Hello", "Goodbye")},
		{"expect": expect("rejected"), "say": "Then it stays."},

		{"when": "^cancel the command$", "call": bash("echo $$ > pid; echo waiting; sleep 60; echo never")},
		{"when": "^cancel the question$", "call": edit("greet.sh", "Hello", "Goodbye")},
		{"when": "^cancel the model$", "say": "I think", "wait": "for the cancel"},

		{"when": "^edit freely$", "call": edit("notes.txt", "words", "letters")},
		{"expect": expect(freely), "say": "That was all."},
	}
	var script strings.Builder
	encoder := json.NewEncoder(&script)
	for _, step := range steps {
		_ = encoder.Encode(step) // maps of strings; a strings.Builder takes everything
	}
	return script.String()
}

// TestInterop_Scenario drives the agent with the client of the official SDK through
// turns that end, are rejected and are cancelled, with each two of the capabilities that
// change how files and commands are reached. The short form has two of the clients.
func TestInterop_Scenario(t *testing.T) {
	// Each value with each value of any other, with the two clients that follow.
	clients := []interopClient{{}, {read: true, terminal: true}, {write: true, terminal: true}, {read: true, write: true}}
	clients = append(clients, interopClient{meta: true}, interopClient{true, true, true, true})
	binary := needInterop(t)
	for _, c := range testreq.Pick(2, clients) {
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			job := newInteropJob(t, binary, c)
			report := drive(t, job)
			run := &interopRun{T: t, client: c, job: job, report: report, calls: callsOf(t, report)}
			judgeLines(t, report)
			run.outcomes()
			run.handshake()
			run.order()
			run.cards()
			run.files()
			run.commands()
			run.options()
			run.end()
		})
	}
}

func newInteropJob(t *testing.T, binary string, c interopClient) interopJob {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	cwd := filepath.Join(home, "project")
	script := filepath.Join(home, "model.jsonl")
	if err := os.Mkdir(cwd, 0o755); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		filepath.Join(cwd, "greet.sh"): greetBefore, filepath.Join(cwd, "notes.txt"): notesDisk, script: interopScript(c),
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return interopJob{
		Command: binary, Cwd: cwd, Capabilities: c.capabilities(), Steps: interopSteps(),
		Buffers: map[string]string{filepath.Join(cwd, "notes.txt"): notesBuffer},
		Env: map[string]string{
			"PATH": os.Getenv("PATH"), "HOME": home, "ACP_AGENT_MODEL_SCRIPT": script,
			"XDG_CONFIG_HOME": filepath.Join(home, "config"), "XDG_DATA_HOME": filepath.Join(home, "data"),
			"XDG_STATE_HOME": filepath.Join(home, "state"), "XDG_RUNTIME_DIR": filepath.Join(home, "run"),
		},
	}
}

// interopRun is one run of the scenario and what is checked of it.
type interopRun struct {
	*testing.T
	client interopClient
	job    interopJob
	report *interopReport
	calls  []*interopCall
}

func (r *interopRun) path(name string) string { return filepath.Join(r.job.Cwd, name) }

// disk returns what a file of the project holds in the end.
func (r *interopRun) disk(name string) string {
	r.Helper()
	text, err := os.ReadFile(r.path(name))
	if err != nil {
		r.Error(err)
	}
	return string(text)
}

// outcomes checks how each step ended.
func (r *interopRun) outcomes() {
	r.Helper()
	got := make([]string, len(r.report.Steps))
	for i, step := range r.report.Steps {
		got[i] = step.Result.StopReason
		if step.Error != nil {
			got[i] = fmt.Sprintf("error %d", step.Error.Code)
			if i != stepClosed {
				r.Logf("step %d: %s", i, step.Error.Message)
			}
		}
	}
	want := []string{
		stepRepair: "end_turn", stepReject: "end_turn", stepCancelCommand: "cancelled", stepCancelQuestion: "cancelled",
		stepCancelModel: "cancelled", stepCodeMode: "", stepEditFreely: "end_turn", stepAskOption: "", stepClose: "",
		stepClosed: "error -32002",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		r.Errorf("outcomes (-want +got):\n%s", diff)
	}
}

// files checks which way reads and edits took.
func (r *interopRun) files() {
	r.Helper()
	if asked := slices.Contains(r.report.Reads, r.path("notes.txt")); asked != r.client.read {
		r.Errorf("the editor was asked for notes.txt: %t, want %t", asked, r.client.read)
	}
	type write struct{ Path, Content, Before string }
	var want, got []write
	for _, w := range r.report.Writes {
		before := "absent"
		if w.DiskBefore != nil {
			before = *w.DiskBefore
		}
		got = append(got, write{filepath.Base(w.Path), w.Content, before})
	}
	greet, notes, buffer := greetAfter, "letters on the disk\n", notesBuffer
	switch {
	case r.client.owns():
		// Each write came once, before anything was on the disk; what is there now is the
		// editor's form, and the unsaved file is as it was.
		want = []write{{"greet.sh", greetAfter, greetBefore}, {"notes.txt", "letters in the editor\n", notesDisk}}
		greet, notes, buffer = greetAfter+"\n", notesDisk, "letters in the editor\n"
	case r.client.read:
		notes = notesDisk // unsaved work was not overwritten
	}
	if diff := cmp.Diff(want, got); diff != "" {
		r.Errorf("writes through the editor (-want +got):\n%s", diff)
	}
	for name, want := range map[string]string{"greet.sh": greet, "notes.txt": notes} {
		if diff := cmp.Diff(want, r.disk(name)); diff != "" {
			r.Errorf("%s on disk (-want +got):\n%s", name, diff)
		}
	}
	if got := r.report.Buffers[r.path("notes.txt")]; got != buffer {
		r.Errorf("the buffer holds %q, want %q", got, buffer)
	}
}

// end checks that nothing is left: no process, no output but the protocol, no complaint.
func (r *interopRun) end() {
	r.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(r.disk("pid")))
	if err != nil {
		r.Fatal(err)
	}
	// The number alone may belong to another process by now, and one that is dead
	// but not yet reaped has no command line.
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err == nil && strings.Contains(string(line), "echo waiting") {
		r.Errorf("the cancelled command %d is still running: %q", pid, line)
	}
	r.exited()
}

// exited checks that the agent has ended well, and has written nothing but the protocol.
func (r *interopRun) exited() {
	r.Helper()
	exit := r.report.Exit
	if exit.Code == nil || *exit.Code != 0 || exit.Error != "" {
		r.Errorf("the agent ended with %+v", exit)
	}
	if exit.Stderr != "" || exit.Unfinished != "" || len(r.report.Complaints) > 0 {
		r.Errorf("stderr %q, after the last line %q, the SDK complained %q", exit.Stderr, exit.Unfinished, r.report.Complaints)
	}
}
