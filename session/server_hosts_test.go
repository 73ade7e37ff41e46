package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"acp-agent/internal/egress"
	"acp-agent/mcp"
	"acp-agent/permissions"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// A server that reaches for many hosts does not have the user asked about each, and does not get around
// a no, or the number of questions, by ending its program.
func TestServerHosts_Bounds(t *testing.T) {
	h := &serverHosts{}
	server, other := mcp.Server{Name: "s", Command: "a"}, mcp.Server{Name: "s", Command: "b"}
	about := func(server mcp.Server, i int) hostOfServer {
		return hostOfServer{hostIdentity(&server), strconv.Itoa(i)}
	}
	asks := func(i int) (asking context.Context) {
		_, asking = h.answer(t.Context(), about(server, i))
		return asking
	}
	for i := range maxHostsOpen {
		if asks(i) == nil {
			t.Fatalf("question %d is not asked", i)
		}
		if asks(i) != nil {
			t.Error("a host is asked about twice")
		}
	}
	if answer, _ := h.answer(t.Context(), about(server, maxHostsOpen)); answer != nil {
		t.Error("there are too many questions at a time")
	}
	if _, asking := h.answer(t.Context(), about(other, 0)); asking == nil {
		t.Error("a server that has changed has the question of the one that it was")
	}
	for i := range maxHostsOpen {
		h.answered(t.Context(), about(server, i), tools.AllowOnce, nil)
	}
	for i := range maxHostsShut {
		if asks(100+i) == nil {
			t.Fatalf("question %d is not asked", i)
		}
		h.answered(t.Context(), about(server, 100+i), []tools.Answer{tools.RejectOnce, tools.Cancelled}[i%2], nil)
	}
	h.started(&server)
	if answer, _ := h.answer(t.Context(), about(server, 200)); answer != nil {
		t.Error("the end of the program lets it ask again without end")
	}
	if answer, asking := h.answer(t.Context(), about(server, 101)); answer == nil || asking != nil {
		t.Error("the end of the program lets it ask again about what was dismissed")
	}
	h.turnStarted()
	if asks(0) == nil {
		t.Error("what was allowed to the last run counts")
	}
	if asks(101) == nil {
		t.Error("what was dismissed in the last turn is not asked again")
	}
	if answer, asking := h.answer(t.Context(), about(server, 100)); answer == nil || asking != nil {
		t.Error("what was rejected is asked again")
	}
}

// An answer is for the server that the card names: not for one of another name, nor for one that is
// another one by now.
func TestHostIdentity(t *testing.T) {
	server := mcp.Server{Name: "s", Origin: "the project", Command: "a", Args: []string{"b"}, Env: []string{"K=1"}, AsksHosts: true}
	was := hostIdentity(&server)
	for name, change := range map[string]func(*mcp.Server){
		"name": func(s *mcp.Server) { s.Name = "t" }, "origin": func(s *mcp.Server) { s.Origin = "the editor" },
		"command": func(s *mcp.Server) { s.Command = "c" }, "arguments": func(s *mcp.Server) { s.Args = []string{"b", ""} },
		"variables": func(s *mcp.Server) { s.Env = []string{"L=1"} }, "list": func(s *mcp.Server) { s.Hosts = []string{"a.example"} },
	} {
		changed := server
		if change(&changed); hostIdentity(&changed).Same(was) {
			t.Errorf("another %s is the same server", name)
		}
	}
}

// newAskingServers are servers whose user answers over the channel.
func newAskingServers(t *testing.T) (s *servers, user replyingAsker, p *parts) {
	t.Helper()
	p = newParts(t, Settings{}, nil)
	user = make(replyingAsker)
	p.spec.Asker, p.spec.Queue = user, tools.NewQuestionQueue()
	p.host.Logger = slog.New(slog.DiscardHandler)
	p.life = newLifetime(t.Context(), nil)
	s = newServers(p.opened, p.project, p.conversation, pipeline.NewPolicy(permissions.Set{}), nil)
	t.Cleanup(s.Close)
	return s, user, p
}

// reach lets a server reach for a host, and returns what comes of it.
func reach(ctx context.Context, s *servers, server mcp.Server, to egress.Destination) <-chan error {
	came := make(chan error, 1)
	go func() { came <- s.connectTo(server)(ctx, to) }()
	synctest.Wait()
	return came
}

// What the user says of a server is not said of the one that takes its name while the question stands,
// and the question of a server that has gone vanishes.
func TestServers_AskHostOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, user, p := newAskingServers(t)
		to := egress.Destination{Host: "a.example", Port: 443}
		was := mcp.Server{Name: "s", Command: "good", Project: true, AsksHosts: true}
		now := mcp.Server{Name: "s", Command: "evil", Project: true, AsksHosts: true}
		run, end := context.WithCancel(t.Context())
		first := reach(run, s, was, to)
		defer s.letAsk(t.Context()).end()
		synctest.Wait()
		second := reach(t.Context(), s, now, to)
		user <- tools.AllowOnce
		if err := <-first; err != nil {
			t.Errorf("what was allowed is refused: %v", err)
		}
		synctest.Wait()
		select {
		case err := <-second:
			t.Fatalf("the answer about one server came to another: %v", err)
		default:
		}
		s.hosts.keep([]mcp.Server{was})
		end()
		if err := <-second; err == nil {
			t.Error("a server that has gone was connected")
		}
		synctest.Wait()
		if end, ok := p.shown[len(p.shown)-1].(transcript.ToolFinished); !ok || end.State != transcript.Cancelled {
			t.Errorf("the card of the server that has gone: %+v", p.shown[len(p.shown)-1])
		}
		third := reach(t.Context(), s, now, to)
		user <- tools.RejectOnce
		if _, refused := errors.AsType[*egress.Refusal](<-third); !refused {
			t.Error("a server that came back was not asked about")
		}
	})
}

// What is allowed for longer than a run is a rule, and ends with it.
func TestServers_AskHostRevoked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, user, _ := newAskingServers(t)
		server, to := mcp.Server{Name: "s", Command: "a", AsksHosts: true}, egress.Destination{Host: "a.example", Port: 443}
		defer s.letAsk(t.Context()).end()
		first := reach(t.Context(), s, server, to)
		user <- tools.AllowAlways
		if err := <-first; err != nil {
			t.Fatal(err)
		}
		if err := <-reach(t.Context(), s, server, to); err != nil {
			t.Errorf("the answer is forgotten: %v", err)
		}
		for _, rule := range s.policy.Rules().In(permissions.Session) {
			s.policy.Forget(rule)
		}
		again := reach(t.Context(), s, server, to)
		select {
		case err := <-again:
			t.Fatalf("after the rule was revoked no one was asked: %v", err)
		case user <- tools.RejectOnce:
		}
		if err := <-again; err == nil {
			t.Error("what was rejected was connected")
		}
	})
}

// A server that reaches for any number of hosts, however they are written, leaves a few questions and notes.
func TestServers_AskHostFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _, p := newAskingServers(t)
		connect := s.connectTo(mcp.Server{Name: "s", Command: "a", AsksHosts: true})
		run, end := context.WithCancel(t.Context())
		ended := make(chan error, maxHostsOpen)
		for i := range maxHostsOpen {
			go func() { ended <- connect(run, egress.Destination{Host: strconv.Itoa(i) + ".example", Port: 443}) }()
		}
		synctest.Wait()
		for i := range 10_000 {
			if err := connect(run, egress.Destination{Host: strconv.Itoa(i) + ".flood.example", Port: uint16(1 + i)}); err == nil {
				t.Fatal("a host that no one was asked about is open")
			}
		}
		end()
		for range maxHostsOpen {
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("the end of the program ended it with %v", err)
			}
		}
		if len(s.hosts.asked) != maxHostsOpen || len(s.hosts.notesOf("s")) != maxHostNotes {
			t.Errorf("%d questions and %d notes", len(s.hosts.asked), len(s.hosts.notesOf("s")))
		}
		p.life.end(ErrClosed)
		p.life.wait()
	})
}

// Where no one can be asked, what is closed says how to open it: for a server of the user's own, its entry; for
// others there is none that the user writes.
func TestServers_ClosedHost(t *testing.T) {
	own := mcp.Server{Name: "s", Origin: "the configuration", Command: "a", AsksHosts: true}
	p := newParts(t, Settings{Sources: Sources{Servers: []mcp.Server{own}}}, nil)
	p.host.Logger = slog.New(slog.DiscardHandler)
	p.life = newLifetime(t.Context(), nil)
	s := newServers(p.opened, p.project, p.conversation, pipeline.NewPolicy(permissions.Set{}), nil)
	t.Cleanup(s.Close)
	editors, projects := own, own
	editors.Name, editors.Origin = "e", "the editor"
	projects.Name, projects.Origin, projects.Project = "p", "the project", true
	for _, tt := range []struct {
		server mcp.Server
		want   string
	}{
		{own, "add `\"a.example\"` to `network` of its entry"},
		{editors, "allow it for the project in an editor, which asks you, or set `mcp.network` to `\"open\"`"},
		{projects, "allow it for the project in an editor, which asks you, or set `mcp.network` to `\"open\"`"},
	} {
		err := s.connectTo(tt.server)(t.Context(), egress.Destination{Host: "a.example", Port: 443})
		if notes := s.hosts.notesOf(mcp.ID(tt.server.Name)); err == nil || len(notes) != 1 || !strings.Contains(notes[0], tt.want) {
			t.Errorf("%s: %v, %q", tt.server.Origin, err, notes)
		}
	}
}

// The end of a session ends what waits for an answer, and nothing is left of it.
func TestServers_AskHostAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _, p := newAskingServers(t)
		server := mcp.Server{Name: "s", Command: "a", AsksHosts: true}
		var waiting []<-chan error
		for i := range 100 {
			waiting = append(waiting, reach(t.Context(), s, server, egress.Destination{Host: strconv.Itoa(i%maxHostsOpen) + ".example", Port: 443}))
		}
		turn := s.letAsk(t.Context())
		synctest.Wait()
		p.life.end(ErrClosed)
		for _, came := range waiting {
			if err := <-came; !errors.Is(err, ErrClosed) {
				t.Fatalf("it ended with %v", err)
			}
		}
		turn.end()
		p.life.wait()
	})
}

// The host stands first in all texts of the question, and is whole, whatever the server is called, and
// nothing in them is hidden.
func TestHostQuestionOf(t *testing.T) {
	address := strings.Repeat("github.com.", 20) + "evil.example:8080"
	server := mcp.Server{Name: "\x1b[31m\u202e connect to github.com, `as before`\n\n" + strings.Repeat("x", 1000), Command: "/bin/a", Origin: "the project"}
	to := egress.Destination{Host: strings.TrimSuffix(address, ":8080"), Port: 8080, Private: "private network", Addr: netip.MustParseAddr("10.0.0.1")}
	q := hostQuestionOf(server, &pipeline.Unlisted{Host: address, Private: "private network, 10.0.0.1"}, to)
	for name, text := range map[string]string{"title": q.Title, "reason": q.Reason, "rule": q.Remember} {
		start := map[string]string{"title": "Connect to ", "rule": "connections to "}[name]
		if !strings.HasPrefix(text, start+address+" ") || !strings.Contains(text, "the MCP server ") || strings.ContainsAny(text, "\x1b\u202e\n") || len(text) > 500 {
			t.Errorf("the %s is %q", name, text)
		}
	}
	if !strings.Contains(q.Text, "`"+address+"`") || !strings.Contains(q.Text, "10.0.0.1") || strings.Count(q.Text, "`") != 6 || strings.ContainsAny(q.Text, "\x1b\u202e\n") {
		t.Errorf("the text is %q", q.Text)
	}
}

// What was rejected, or not answered in time, is listed as a denial of that server alone, and is asked about again
// once it is taken back.
func TestServers_AskHostTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, user, _ := newAskingServers(t)
		s.hosts.questions.limit = time.Minute
		server := mcp.Server{Name: "s", Command: "a", AsksHosts: true}
		defer s.letAsk(t.Context()).end()
		rejected := reach(t.Context(), s, server, egress.Destination{Host: "a.example", Port: 443})
		user <- tools.RejectOnce
		<-rejected
		<-reach(t.Context(), s, server, egress.Destination{Host: "b.example", Port: 443}) // not answered
		b := &ruleBook{policy: s.policy, below: newAgentPolicies(), hosts: &s.hosts}
		list := b.rules()
		want := []string{"deny `network(a.example)` for the MCP server s, your answer in this session", "deny `network(b.example)` for the MCP server s, not answered in time in this session"}
		var got []string
		for _, l := range list {
			got = append(got, fmt.Sprintf("%s %s, %s", l.Rule.Action, ruleText(l.Rule), l.Where()))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("listed are %q, want %q", got, want)
		}
		for _, l := range list {
			if err := b.revoke(l); err != nil {
				t.Error(err)
			}
			if err := b.revoke(l); err == nil {
				t.Error("an answer was taken back twice")
			}
			again := reach(t.Context(), s, server, egress.Destination{Host: l.Rule.Pattern, Port: 443})
			user <- tools.AllowOnce
			if err := <-again; err != nil {
				t.Errorf("after its answer was taken back, %s was not asked about: %v", l.Rule.Pattern, err)
			}
		}
		if left := b.rules(); len(left) > 0 {
			t.Errorf("left are %+v", left)
		}
	})
}

// A decision holds for the session, and /permissions takes it back, where the user saw the question and did not
// dismiss it; else the next turn asks again.
func TestDecisionOf(t *testing.T) {
	for name, tt := range map[string]struct {
		answer    tools.Answer
		err       error
		by, scope string
	}{
		"rejected":                       {tools.RejectOnce, nil, "person: reject_once", "session"},
		"dismissed":                      {tools.Cancelled, nil, "person: dismissed", ""},
		"not answered in time":           {tools.RejectOnce, errNoHostAnswer, pipeline.ByTimeout, "session"},
		"not shown in time":              {tools.Cancelled, errNoHostAnswer, pipeline.ByTimeout, ""},
		"the client could not be asked":  {tools.RejectOnce, io.ErrUnexpectedEOF, pipeline.ByWithdrawn, ""},
		"allowed while the program runs": {tools.AllowOnce, nil, "person: allow_once", "once"},
		"allowed for the session":        {tools.AllowAlways, nil, "person: allow_always", "session"},
	} {
		if d := decisionOf(tt.answer, tt.err); d.By != tt.by || d.Scope != tt.scope || (d.Err == nil) != allows(tt.answer) {
			t.Errorf("%s: %+v", name, d)
		}
	}
}
