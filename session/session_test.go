package session_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"acp-agent/loop"
	"acp-agent/mcp"
	"acp-agent/model"
	"acp-agent/model/script"
	"acp-agent/permissions"
	"acp-agent/session"
	"acp-agent/subagent"
	"acp-agent/tools"
	"acp-agent/tools/builtin"
	"acp-agent/tools/mount"
	"acp-agent/transcript"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// recorder keeps a session's events and lets a test wait for one.
type recorder struct {
	mu     sync.Mutex
	events []transcript.Event
	more   chan struct{}
	gate   chan struct{} // when set, text waits until it is closed
	// onEvent, when set, sees each event before it is kept.
	onEvent func(transcript.Event)
}

func newRecorder() *recorder { return &recorder{more: make(chan struct{}, 1)} }

func (r *recorder) Emit(e transcript.Event) {
	if _, isText := e.(transcript.PartDelta); isText && r.gate != nil {
		<-r.gate
	}
	if r.onEvent != nil {
		r.onEvent(e)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
	select {
	case r.more <- struct{}{}:
	default:
	}
}

func (r *recorder) all() []transcript.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

// await returns when an event satisfies ok.
func (r *recorder) await(t *testing.T, what string, ok func(transcript.Event) bool) {
	t.Helper()
	timeout := time.After(time.Minute)
	for !slices.ContainsFunc(r.all(), ok) {
		select {
		case <-r.more:
		case <-timeout:
			t.Fatalf("no %s in %d events", what, len(r.all()))
		}
	}
}

func (r *recorder) text() string {
	var b strings.Builder
	for _, e := range r.all() {
		switch e := e.(type) {
		case transcript.PartDelta:
			b.WriteString(e.Text)
		case transcript.AgentSaid:
			b.WriteString(e.Message.Typed())
		}
	}
	return b.String()
}

func said(text string) func(transcript.Event) bool {
	return func(e transcript.Event) bool {
		switch e := e.(type) {
		case transcript.PartDelta:
			return strings.Contains(e.Text, text)
		case transcript.AgentSaid:
			return strings.Contains(e.Message.Typed(), text)
		}
		return false
	}
}

func noticed(text string) func(transcript.Event) bool {
	return func(e transcript.Event) bool {
		notice, ok := e.(transcript.Notice)
		return ok && strings.Contains(notice.Text, text)
	}
}

type setup struct {
	script  string
	models  []model.Info
	servers []mcp.Server
	fail    error // of the backend
	// settings are the user's; nil means the usual ones.
	settings *session.Settings
	mounting *mount.Mounting
}

func open(t *testing.T, s setup) (*session.Session, *recorder) {
	t.Helper()
	loaded, err := script.Load("test", strings.NewReader(s.script))
	if err != nil {
		t.Fatal(err)
	}
	registry, err := tools.NewRegistry(builtin.All()...)
	if err != nil {
		t.Fatal(err)
	}
	provider := loaded.Provider(script.Options{Models: s.models})
	host := &session.Host{
		Backend: func() (session.Backend, error) {
			return session.Backend{Provider: provider, Model: "script"}, s.fail
		},
		IDs: &transcript.IDs{}, Toolset: session.Toolset{Registry: registry, Mounting: s.mounting}, Agents: session.Agents{Manifest: subagent.Main()},
		Machine: session.Machine{StateDir: filepath.Join(t.TempDir(), "state")},
		Configuration: session.Configuration{Configure: func(string) (session.Settings, error) {
			if s.settings != nil {
				return *s.settings, nil
			}
			return session.Settings{Limits: tools.CanonicalLimits()}, nil
		}},
		Privacy: session.Privacy{Secrets: func() []string { return nil }},
	}
	rec := newRecorder()
	opened, err := host.Open(t.Context(), session.Spec{Cwd: t.TempDir(), Servers: s.servers, Client: session.Client{Sink: rec}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		opened.Close(0)
		host.Close()
	})
	return opened, rec
}

func prompt(s *session.Session, text string) *session.Turn {
	return s.Prompt([]transcript.Part{&transcript.TextPart{Text: text}})
}

func wait(t *testing.T, turn *session.Turn, want loop.StopReason) {
	t.Helper()
	stop, err := turn.Wait(t.Context())
	turn.Release()
	if stop != want || err != nil {
		t.Errorf("the turn ended as %q, %v; want %q", stop, err, want)
	}
}

const waiting = `{"say":"waiting","wait":"for the cancel"}` + "\n"

func TestPrompt_QueuedInOrder(t *testing.T) {
	s, rec := open(t, setup{script: `{"say":"first"}` + "\n" + `{"say":"second"}` + "\n" + `{"say":"third"}`})
	turns := []*session.Turn{prompt(s, "1"), prompt(s, "2"), prompt(s, "3")}
	for _, turn := range turns {
		wait(t, turn, loop.EndTurn)
	}
	if got := rec.text(); got != "firstsecondthird" {
		t.Errorf("said %q", got)
	}
}

func TestPrompt_NextTurnWaitsForTheAnswer(t *testing.T) {
	s, rec := open(t, setup{script: `{"say":"first"}` + "\n" + `{"say":"second"}`})
	first, second := prompt(s, "1"), prompt(s, "2")
	if _, err := first.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := rec.text(); got != "first" {
		t.Errorf("before the first answer was delivered: %q", got)
	}
	first.Release()
	wait(t, second, loop.EndTurn)
}

func TestCancel_RunningTurnOnly(t *testing.T) {
	s, rec := open(t, setup{script: waiting + `{"say":"after"}`})
	running, queued := prompt(s, "1"), prompt(s, "2")
	rec.await(t, "text", said("waiting"))
	s.Cancel()
	wait(t, running, loop.Cancelled)
	wait(t, queued, loop.EndTurn)
}

func TestCancel_RightBehindThePrompt(t *testing.T) {
	s, _ := open(t, setup{script: `{"say":"x","wait":"for the cancel","repeat":-1}`})
	for range 200 {
		turn := prompt(s, "go")
		s.Cancel()
		wait(t, turn, loop.Cancelled)
	}
}

func TestCancel_WithNothingRunning(t *testing.T) {
	s, _ := open(t, setup{script: `{"say":"x"}`})
	s.Cancel()
	wait(t, prompt(s, "go"), loop.EndTurn)
}

func TestWait_ContextWithdraws(t *testing.T) {
	s, rec := open(t, setup{script: waiting})
	running, queued := prompt(s, "1"), prompt(s, "2")
	rec.await(t, "text", said("waiting"))
	for name, turn := range map[string]*session.Turn{"queued": queued, "running": running} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if name == "running" {
			// The queued one has to be withdrawn first, for the map's order is random.
			queued.Wait(ctx)
		}
		if stop, err := turn.Wait(ctx); stop != loop.Cancelled || err != nil {
			t.Errorf("%s: ended as %q, %v", name, stop, err)
		}
		turn.Release()
	}
}

func TestFailure_QueuedPromptsAreNotRun(t *testing.T) {
	s, rec := open(t, setup{script: `{"say":"a","error":{"status":401,"message":"bad key"}}` + "\n" + `{"say":"later"}`})
	rec.gate = make(chan struct{})
	first, queued := prompt(s, "1"), prompt(s, "2")
	close(rec.gate) // the first fails once the second is queued
	_, err := first.Wait(t.Context())
	if err == nil {
		t.Fatal("no error")
	}
	first.Release()
	var notRun *session.NotRunError
	if _, err := queued.Wait(t.Context()); !errors.As(err, &notRun) || !strings.Contains(err.Error(), "bad key") {
		t.Errorf("the queued prompt got %v", err)
	}
	queued.Release()
	wait(t, prompt(s, "3"), loop.EndTurn) // the next prompt clears it
	if got := rec.text(); got != "alater" {
		t.Errorf("said %q", got)
	}
}

// A client may have the answer of a failed prompt, and send the next one, before
// the delivery of that answer is known: it is a new attempt, and runs.
func TestFailure_NextPromptOvertakesTheDelivery(t *testing.T) {
	s, rec := open(t, setup{script: `{"say":"a","error":{"status":401,"message":"bad key"}}` + "\n" + `{"say":"later"}`})
	first := prompt(s, "1")
	if _, err := first.Wait(t.Context()); err == nil {
		t.Fatal("no error")
	}
	next := prompt(s, "2")
	first.Release()
	wait(t, next, loop.EndTurn)
	if got := rec.text(); got != "alater" {
		t.Errorf("said %q", got)
	}
}

func TestClose_EndsEverything(t *testing.T) {
	s, rec := open(t, setup{script: waiting})
	running, queued := prompt(s, "1"), prompt(s, "2")
	rec.await(t, "text", said("waiting"))
	s.Close(0)
	wait(t, running, loop.Cancelled)
	wait(t, queued, loop.Cancelled)
	wait(t, prompt(s, "3"), loop.Cancelled)
}

func TestTitle_FromTheFirstPrompt(t *testing.T) {
	s, rec := open(t, setup{script: `{"say":"x","repeat":-1}`})
	wait(t, prompt(s, "\n  Fix the   bug\nin a.go"), loop.EndTurn)
	wait(t, prompt(s, "another"), loop.EndTurn)
	var titles []string
	for _, e := range rec.all() {
		if title, ok := e.(transcript.TitleChanged); ok {
			titles = append(titles, title.Title)
		}
	}
	if !slices.Equal(titles, []string{"Fix the bug"}) {
		t.Errorf("titles %q", titles)
	}
}

func TestServers_AFailureIsSaidOnce(t *testing.T) {
	s, rec := open(t, setup{script: `{"say":"x","repeat":-1}`, servers: []mcp.Server{{Name: "files", Command: "/no/such/program"}}})
	wait(t, prompt(s, "1"), loop.EndTurn)
	wait(t, prompt(s, "2"), loop.EndTurn)
	n := 0
	for _, e := range rec.all() {
		if noticed("The MCP server files is not connected: ")(e) {
			n++
		}
	}
	if n != 1 {
		t.Errorf("said %d times", n)
	}
}

func TestCommands_AreAnsweredWithoutTheModel(t *testing.T) {
	s, rec := open(t, setup{script: `{"expect":{"messages":1},"say":"model"}`})
	wait(t, prompt(s, "/help"), loop.EndTurn)
	if got := rec.text(); !strings.Contains(got, "/status") || !strings.Contains(got, "bash") {
		t.Errorf("help says %q", got)
	}
	wait(t, prompt(s, "/status"), loop.EndTurn)
	wait(t, prompt(s, "/usr/bin is what?"), loop.EndTurn)
	if got := rec.text(); !strings.HasSuffix(got, "model") {
		t.Errorf("a path that begins with a slash did not reach the model: %q", got)
	}
}

// A client without notices does not show what is merely informative, so /status has it.
func TestStatus_SaysWhatIsNotKnown(t *testing.T) {
	s, rec := open(t, setup{script: `{"say":"x","repeat":-1,"usage":{"input":50,"output":2}}`, models: []model.Info{{ID: "script"}}})
	wait(t, prompt(s, "hello"), loop.EndTurn)
	wait(t, prompt(s, "/status"), loop.EndTurn)
	if got := rec.text(); !strings.Contains(got, "the window of this model is not known, set `model.window`") {
		t.Errorf("/status says %q", got)
	}
}

func TestImages_NotSentToAModelWithoutEyes(t *testing.T) {
	picture := []transcript.Part{&transcript.TextPart{Text: "look"}, &transcript.ImagePart{MediaType: "image/png", Data: "aGk="}}
	s, rec := open(t, setup{script: `{"say":"x","repeat":-1}`, models: []model.Info{{ID: "script", Window: 1000, Images: model.No}}})
	turn := s.Prompt(picture)
	wait(t, turn, loop.EndTurn)
	rec.await(t, "notice", noticed("did not reach it"))
}

func TestOptions(t *testing.T) {
	s, rec := open(t, setup{script: `{"say":"x"}`, models: []model.Info{
		{ID: "script", ThoughtLevels: []string{"low", "high"}}, {ID: "other"},
	}})
	ids := func() []string {
		var list []string
		for _, o := range s.Options() {
			list = append(list, fmt.Sprintf("%s=%s/%d", o.ID, o.Current, len(o.Values)))
		}
		return list
	}
	if got, want := ids(), []string{"mode=ask/3", "model=script/1", "thought_level=default/3", "queue=after/2"}; !slices.Equal(got, want) {
		t.Errorf("options %q, want %q", got, want)
	}
	s.Start()
	rec.await(t, "list of models", func(e transcript.Event) bool { _, ok := e.(transcript.OptionsChanged); return ok })
	for _, change := range [][2]string{{"mode", "code"}, {"thought_level", "high"}} {
		if err := s.SetOption(change[0], change[1]); err != nil {
			t.Error(err)
		}
	}
	if got, want := ids(), []string{"mode=code/3", "model=script/2", "thought_level=high/3", "queue=after/2"}; !slices.Equal(got, want) {
		t.Errorf("options %q, want %q", got, want)
	}
	for _, bad := range [][2]string{{"mode", "yolo"}, {"model", "none"}, {"colour", "red"}} {
		var value *session.BadValueError
		if err := s.SetOption(bad[0], bad[1]); !errors.As(err, &value) {
			t.Errorf("%v gave %v", bad, err)
		}
	}
	if err := s.SetOption("model", "other"); err != nil {
		t.Error(err)
	}
	if got, want := ids(), []string{"mode=code/3", "model=other/2", "queue=after/2"}; !slices.Equal(got, want) {
		t.Errorf("options %q, want %q: another model may have no thought levels", got, want)
	}
	if s.Mode() != string(permissions.ModeCode) {
		t.Errorf("mode %q", s.Mode())
	}
}

func TestOpen_WithoutCredentials(t *testing.T) {
	host := &session.Host{Backend: func() (session.Backend, error) {
		return session.Backend{}, &session.AuthError{Message: "set a key"}
	}}
	var auth *session.AuthError
	if _, err := host.Open(t.Context(), session.Spec{Cwd: t.TempDir()}); !errors.As(err, &auth) {
		t.Errorf("got %v", err)
	}
}
