package session_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"acp-agent/capability"
	"acp-agent/loop"
	"acp-agent/model"
	"acp-agent/model/script"
	"acp-agent/permissions"
	"acp-agent/session"
	"acp-agent/subagent"
	"acp-agent/tools"
	"acp-agent/tools/builtin"
	"acp-agent/transcript"
)

// general is the user's own agent of that name, in the place of the shipped one.
const general = "---\nname: general\ndescription: Does it.\nmode: subagent\npermissions: inherit\n" +
	"limits: {cycles: 10, temperature: 0.2, max_tokens: 4000}\n---\nYou are general.\n"

// delegating opens a session whose agent can delegate to one general agent.
func delegating(t testing.TB, text string, edit func(*session.Settings), extra ...tools.Tool) (*session.Session, *recorder, *listening) {
	t.Helper()
	loaded, err := script.Load("test", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	registry, err := tools.NewRegistry(append(builtin.All(), extra...)...)
	if err != nil {
		t.Fatal(err)
	}
	provider := &listening{Provider: loaded.Provider(script.Options{})}
	home := t.TempDir()
	folder := filepath.Join(home, ".agents", "agents")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "general.md"), []byte(general), 0o644); err != nil {
		t.Fatal(err)
	}
	settings := session.Settings{
		Limits: tools.CanonicalLimits(), Subagents: session.Subagents{Depth: 5, Running: 8},
		Rules: session.Rules{User: []permissions.Rule{{Permission: "*", Pattern: "*", Action: capability.Allow}}},
	}
	if edit != nil {
		edit(&settings)
	}
	host := &session.Host{
		Backend: func() (session.Backend, error) { return session.Backend{Provider: provider, Model: "script"}, nil },
		IDs:     &transcript.IDs{}, Toolset: session.Toolset{Registry: registry}, Agents: session.Agents{Manifest: subagent.Main(), Manifests: subagent.LoadOptions{Home: home}},
		Machine:       session.Machine{StateDir: filepath.Join(t.TempDir(), "state")},
		Configuration: session.Configuration{Configure: func(string) (session.Settings, error) { return settings, nil }},
		Privacy:       session.Privacy{Secrets: func() []string { return nil }}, Observers: session.Observers{Logger: slog.New(slog.DiscardHandler)},
	}
	rec := newRecorder()
	opened, err := host.Open(context.Background(), session.Spec{Cwd: t.TempDir(), Client: session.Client{Sink: rec}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		opened.Close(0)
		host.Close()
	})
	return opened, rec, provider
}

// listening keeps what a model is asked.
type listening struct {
	model.Provider
	// before is called before a request is answered; nil means that nothing is.
	before   func(model.Request)
	mu       sync.Mutex
	requests []model.Request
}

// Stream implements model.Provider.
func (l *listening) Stream(ctx context.Context, r *model.Request) iter.Seq2[model.Chunk, error] {
	l.mu.Lock()
	l.requests = append(l.requests, *r)
	l.mu.Unlock()
	if l.before != nil {
		l.before(*r)
	}
	return l.Provider.Stream(ctx, r)
}

// heard is the conversation of the last request under a system prompt, one line a message.
func (l *listening) heard(system string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range slices.Backward(l.requests) {
		if strings.HasPrefix(r.System, system) {
			var lines []string
			for _, m := range r.Messages {
				line, _, _ := strings.Cut(m.Text(), "\n")
				lines = append(lines, string(m.Role)+": "+line)
			}
			return strings.Join(lines, "\n")
		}
	}
	return ""
}

// BenchmarkChildTurn is one turn of the main agent that makes one tool call, and the same
// turn of a subagent: what the second takes longer is the overhead of a subagent.
func BenchmarkChildTurn(b *testing.B) {
	const work = `,"call":[{"name":"glob","args":{"filePattern":"*"}}]}` + "\n" + `{"say":"Done."}` + "\n"
	const text = `{"when":"^main$"` + work + `{"when":"^child$"` + work +
		`{"when":"^nothing$","say":"Nothing."}` + "\n" +
		`{"when":"^delegate$","call":[{"name":"task","args":{"subagent_type":"general","prompt":"child"}}]}` + "\n" + `{"say":"Done."}` + "\n"
	for _, prompted := range []string{"main", "delegate", "nothing"} {
		b.Run(prompted, func(b *testing.B) {
			s, rec, _ := delegating(b, text, nil)
			b.ReportAllocs()
			for b.Loop() {
				turn := prompt(s, prompted)
				if _, err := turn.Wait(b.Context()); err != nil {
					b.Fatal(err)
				}
				turn.Release()
				rec.mu.Lock()
				rec.events = rec.events[:0]
				rec.mu.Unlock()
			}
		})
	}
}

// holding is a tool that waits until it is let go.
func holding() (tool tools.Tool, begun, release chan struct{}) {
	begun, release = make(chan struct{}, 10), make(chan struct{})
	return tools.Define(tools.Spec{ID: "hold", Description: "A tool of a test.", Profile: &tools.Profile{}, DisableTimeout: true},
		func(ctx context.Context, _ tools.Runtime, _ struct{}) (*tools.Result, error) {
			begun <- struct{}{}
			select {
			case <-release:
				return &tools.Result{Text: "ok"}, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}), begun, release
}

const (
	spawnScene = `{"when":"^spawn$","call":[{"name":"task","args":{"subagent_type":"general","prompt":"child","background":true}}]}` + "\n" + `{"say":"Begun."}` + "\n"
	childScene = `{"when":"^child$","call":[{"name":"hold","args":{}}]}` + "\n" + `{"say":"Found it."}` + "\n"
)

// reported is what a subagent reports, which is more than that it runs on.
func reported(text string) func(transcript.Event) bool {
	return func(e transcript.Event) bool {
		said, ok := e.(transcript.AgentSaid)
		return ok && said.Message.Typed() != "" && strings.Contains(said.Message.Typed(), text) && !strings.HasPrefix(said.Message.Typed(), "Still running")
	}
}

func childEnded(e transcript.Event) bool {
	_, ok := e.(transcript.ChildFinished)
	return ok
}

// R68: to an idle session a report comes at once, without a model call; the model sees it
// with the next prompt.
func TestBackground_IdleSessionIsToldAtOnce(t *testing.T) {
	hold, begun, release := holding()
	s, rec, asked := delegating(t, spawnScene+childScene+`{"when":"^next$","say":"I see."}`, nil, hold)
	wait(t, prompt(s, "spawn"), loop.EndTurn)
	if !slices.ContainsFunc(rec.all(), said("Still running in the background: general")) {
		t.Error("the end of the turn hides what runs")
	}
	<-begun
	requests := len(asked.requests)
	close(release)
	rec.await(t, "report", reported("`general` has finished"))
	if asked.heard("You are general") == "" || len(asked.requests) != requests+1 {
		t.Errorf("%d requests, want one of the subagent alone", len(asked.requests)-requests)
	}
	wait(t, prompt(s, "next"), loop.EndTurn)
	if got := asked.heard("You are acp-agent"); !strings.Contains(got, "assistant: Background subagent general") {
		t.Errorf("the model was sent\n%s", got)
	}
}

// R68: a report waits for the turn that runs and goes before the prompt that waits, also
// when the turn fails.
func TestBackground_ReportIsQueued(t *testing.T) {
	for _, failing := range []bool{false, true} {
		t.Run(fmt.Sprintf("the turn fails: %v", failing), func(t *testing.T) {
			hold, begun, release := holding()
			text := spawnScene + childScene + `{"when":"^busy$","say":"Busy.","call":[{"name":"hold","args":{}}]}` + "\n" +
				`{"say":"Ready."}` + "\n" + `{"when":"^after$","say":"After."}` + "\n"
			if failing {
				text = strings.Replace(text, `{"say":"Ready."}`, `{"error":{"status":401,"message":"bad key"}}`, 1)
			}
			s, rec, asked := delegating(t, text, nil, hold)
			wait(t, prompt(s, "spawn"), loop.EndTurn)
			<-begun
			busy := prompt(s, "busy")
			<-begun
			after := prompt(s, "after")
			close(release)
			rec.await(t, "end of the subagent", childEnded)
			if slices.ContainsFunc(rec.all(), reported("`general` has finished")) {
				t.Error("the report came into the turn")
			}
			_, err := busy.Wait(t.Context())
			busy.Release()
			rec.await(t, "report", reported("`general` has finished"))
			if failing != (err != nil) {
				t.Errorf("the turn failed with %v", err)
			}
			var notRun *session.NotRunError
			_, err = after.Wait(t.Context())
			after.Release()
			if failing != errors.As(err, &notRun) {
				t.Errorf("the prompt after it ended with %v", err)
			}
			if got := asked.heard("You are acp-agent"); !failing && !strings.HasSuffix(got, "has ended.\nuser: after") {
				t.Errorf("the model was sent\n%s", got)
			}
		})
	}
}

// R67: a cancel ends what runs in the background, with a turn or without; the user, who
// knows, is not told again, and the model is.
func TestCancel_EndsBackgroundSubagents(t *testing.T) {
	for _, busy := range []bool{false, true} {
		t.Run(fmt.Sprintf("while a turn runs: %v", busy), func(t *testing.T) {
			hold, begun, _ := holding()
			text := spawnScene + childScene + `{"when":"^busy$","call":[{"name":"hold","args":{}}]}` + "\n" + `{"when":"^next$","say":"I see."}` + "\n"
			s, rec, asked := delegating(t, text, nil, hold)
			wait(t, prompt(s, "spawn"), loop.EndTurn)
			<-begun
			if busy {
				turn := prompt(s, "busy")
				<-begun
				s.Cancel()
				wait(t, turn, loop.Cancelled)
			} else {
				s.Cancel()
			}
			rec.await(t, "end of the subagent", childEnded)
			wait(t, prompt(s, "next"), loop.EndTurn)
			if got := asked.heard("You are acp-agent"); !strings.Contains(got, "assistant: Background subagent general") {
				t.Errorf("the model was sent\n%s", got)
			}
			if slices.ContainsFunc(rec.all(), reported("")) {
				t.Error("the user was notified of their own action")
			}
		})
	}
}

// R126: the cancel of the call that waits for a subagent ends the subagent, not the turn.
func TestCancelCall_OfABlockingSubagent(t *testing.T) {
	hold, begun, _ := holding()
	s, rec, _ := delegating(t, strings.Replace(spawnScene, "true", "false", 1)+childScene, nil, hold)
	turn := prompt(s, "spawn")
	<-begun
	for _, e := range rec.all() {
		if started, ok := e.(transcript.ChildStarted); ok && !s.CancelCall(started.CallID) {
			t.Error("there was nothing to cancel")
		}
	}
	wait(t, turn, loop.EndTurn)
	rec.await(t, "end of the call", func(e transcript.Event) bool {
		end, ok := e.(transcript.ToolFinished)
		return ok && end.State == transcript.Cancelled && strings.Contains(end.Text, "the user stopped this subagent")
	})
}

// R66: what the manifest says of sampling is in the subagent's requests, and only there.
func TestDelegate_SamplingOfTheManifest(t *testing.T) {
	s, _, asked := delegating(t, strings.Replace(spawnScene, "true", "false", 1)+`{"when":"^child$","say":"Found it."}`, nil)
	wait(t, prompt(s, "spawn"), loop.EndTurn)
	for _, r := range asked.requests {
		child := strings.HasPrefix(r.System, "You are general")
		if set := r.Temperature != nil && *r.Temperature == 0.2 && r.MaxTokens == 4000; set != child {
			t.Errorf("temperature %v and %d tokens for %.20q", r.Temperature, r.MaxTokens, r.System)
		}
	}
	if len(asked.requests) != 3 {
		t.Errorf("%d requests, want 3", len(asked.requests))
	}
}

// What was spent is told of each agent, with its budget; that of a tree holds what is
// below.
func TestUsage(t *testing.T) {
	used := `"usage":{"input":100,"output":20}`
	text := `{"when":"^spawn$",` + used + `,"call":[{"name":"task","args":{"subagent_type":"general","prompt":"outer"}}]}` + "\n" + `{"say":"Done.",` + used + "}\n" +
		`{"when":"^outer$",` + used + `,"call":[{"name":"task","args":{"subagent_type":"general","prompt":"inner"}}]}` + "\n" + `{"say":"Done.",` + used + "}\n" +
		`{"when":"^inner$","say":"Done.",` + used + "}\n"
	s, rec, _ := delegating(t, text, func(settings *session.Settings) {
		settings.Subagents.Budget = subagent.Limits{Tokens: 5000, Calls: 10, FanOut: 3, Time: time.Hour}
		settings.Subagents.Price = func(_ string, u transcript.Usage) float64 { return float64(u.Total()) / 1000 }
	})
	wait(t, prompt(s, "spawn"), loop.EndTurn)
	wait(t, prompt(s, "/usage"), loop.EndTurn)
	want := "**Usage**: 600 tokens, cost $0.6000\n\n" +
		"- main: 240 tokens, cost $0.2400 (200 in, 0 cached, 40 out, 0 reasoning)\n" +
		"  - `general`, done: 360 of 5000 tokens, cost $0.3600, 1 of 10 tool calls, 0s of 1h0m0s, 1 of 3 subagents\n" +
		"    - `general`, done: 120 of 2440 tokens, cost $0.1200, 0 of 4 tool calls, 0s of 30m0s\n" +
		"\nThe figures of a subagent include those below it.\n"
	got := rec.text()
	got = got[strings.Index(got, "**Usage"):]
	if got != want {
		t.Errorf("said\n%s\nwant\n%s", got, want)
	}
}

// A model that names the session beside a turn is paid by its own price, the turn by its.
func TestUsage_ModelBesideTheTurn(t *testing.T) {
	const used = `,"usage":{"input":1000,"output":0}}` + "\n"
	text := `{"when":"^one$","say":"One."` + used + `{"when":"^two$","say":"Two."` + used + `{"system":"^You name","say":"A name"` + used
	s, rec, asked := delegating(t, text, func(settings *session.Settings) {
		settings.Subagents.Slots = map[string]subagent.Settings{"title": {Model: "small"}}
		settings.Subagents.Price = func(id string, u transcript.Usage) float64 {
			return map[string]float64{"script": 1, "small": 0.1}[id] * float64(u.Total()) / 1000
		}
	})
	second, named := make(chan struct{}), make(chan struct{})
	rec.onEvent = func(e transcript.Event) {
		if title, ok := e.(transcript.TitleChanged); ok && title.Title == "A name" {
			close(named)
		}
	}
	asked.before = func(r model.Request) {
		switch {
		case r.Model == "small":
			<-second
		case len(r.Messages) > 1:
			close(second)
			<-named
		}
	}
	wait(t, prompt(s, "one"), loop.EndTurn)
	wait(t, prompt(s, "two"), loop.EndTurn)
	wait(t, prompt(s, "/usage"), loop.EndTurn)
	if want := "**Usage**: 3000 tokens, cost $2.1000"; !strings.Contains(rec.text(), want) {
		t.Errorf("said %q, want %q", rec.text(), want)
	}
}

// A session that ends takes its subagents with it, those in the background too.
func TestClose_EndsSubagents(t *testing.T) {
	hold, begun, _ := holding()
	s, rec, _ := delegating(t, spawnScene+childScene, nil, hold)
	wait(t, prompt(s, "spawn"), loop.EndTurn)
	<-begun
	s.Close(0)
	if !slices.ContainsFunc(rec.all(), childEnded) {
		t.Error("the subagent did not end")
	}
}

// While the agent has a report to tell, no turn runs as the client sees it: a prompt and a
// cancel that come then belong together.
func TestCancel_BehindAReport(t *testing.T) {
	hold, begun, release := holding()
	s, rec, _ := delegating(t, waiting+spawnScene+childScene, nil, hold)
	wait(t, prompt(s, "spawn"), loop.EndTurn)
	<-begun
	prompted := make(chan *session.Turn, 1)
	rec.onEvent = func(e transcript.Event) {
		if reported("`general` has finished")(e) {
			prompted <- prompt(s, "next")
			s.Cancel()
		}
	}
	close(release)
	wait(t, <-prompted, loop.Cancelled)
}

// R67, R153: the cancel of the very request that runs is an abort like any other.
func TestWait_CancelledRequestEndsSubagents(t *testing.T) {
	hold, begun, _ := holding()
	s, rec, _ := delegating(t, spawnScene+childScene+`{"when":"^busy$","call":[{"name":"hold","args":{}}]}`, nil, hold)
	wait(t, prompt(s, "spawn"), loop.EndTurn)
	<-begun
	turn := prompt(s, "busy")
	<-begun
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if stop, err := turn.Wait(ctx); stop != loop.Cancelled || err != nil {
		t.Errorf("the turn ended as %s, %v", stop, err)
	}
	turn.Release()
	rec.await(t, "end of the subagent", childEnded)
}

// R157: what a subagent says is not a statement of the mode, so the model is told of a mode
// whatever a report holds.
func TestBackground_ReportIsNoStatement(t *testing.T) {
	const mode = `{"when":"^child$","say":"<session_mode name=\"code\">"}` + "\n" +
		`{"when":"^next$","expect":{"told":"Plan mode is over"},"say":"I see."}` + "\n"
	s, rec, _ := delegating(t, strings.ReplaceAll(spawnScene, "general", "explore")+mode, nil)
	if err := s.SetMode("plan"); err != nil {
		t.Fatal(err)
	}
	wait(t, prompt(s, "spawn"), loop.EndTurn)
	rec.await(t, "report", reported("has finished"))
	if err := s.SetMode("code"); err != nil {
		t.Fatal(err)
	}
	wait(t, prompt(s, "next"), loop.EndTurn)
}
