package protocol

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/internal/testkit/acptest"
)

// storedModel answers two turns, and knows how much of them a copy has.
const storedModel = `{"when": "^one$", "say": "The first."}
{"when": "^two$", "say": "The second."}
{"when": "^copy$", "expect": {"messages": 3}, "say": "A copy."}
{"when": "^all$", "expect": {"messages": 5}, "say": "All of it."}
`

// stored is a session of two turns that is stored in a home.
type stored struct {
	t       *testing.T
	dir     string
	options acptest.Options
	*acptest.Session
}

func newStored(t *testing.T) *stored { return newStoredWith(t, storedModel) }

// newStoredWith is newStored with another model.
func newStoredWith(t *testing.T, model string) *stored {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &stored{t: t, dir: dir, options: acptest.Options{Home: t.TempDir(), Model: model}}
	s.Session = s.start().NewSession(dir)
	s.Prompt("one").Ends("end_turn")
	s.Prompt("two").Ends("end_turn")
	return s
}

// start starts an agent over the home.
func (s *stored) start() *acptest.Agent {
	a := acptest.Start(s.t, s.options)
	a.Initialize("")
	return a
}

// ask makes a request about the session of an agent, with _meta if that is not nil.
func (s *stored) ask(a *acptest.Agent, method string, meta any) *acptest.Message {
	s.t.Helper()
	params := map[string]any{"sessionId": s.ID}
	if method != "session/delete" {
		params["cwd"], params["mcpServers"] = s.dir, []any{}
	}
	if meta != nil {
		params["_meta"] = map[string]any{"acp-agent": meta}
	}
	return a.Request(method, params).Wait()
}

// A session that a process has open is not loaded, resumed or deleted by another, which says
// which process that is; it may be forked. Once the first has ended it, it is loaded (R141, R147).
func TestStored_InTwoProcesses(t *testing.T) {
	t.Parallel()
	s := newStored(t)
	other := s.start()
	want := fmt.Sprintf("session %s is open in process %d on ", s.ID, s.PID)
	for _, method := range []string{"session/load", "session/resume", "session/delete"} {
		m := s.ask(other, method, nil)
		if m.Error == nil || m.Error.Code != -32600 || !strings.HasPrefix(m.Error.Message, want) {
			t.Errorf("%s: %+v, want the error %q…", method, m.Error, want)
		}
	}
	if m := s.ask(other, "session/fork", nil); m.Error != nil {
		t.Errorf("session/fork: %+v", m.Error)
	} else {
		s.promptIn(other, m, "all")
	}
	s.Prompt("one more").Wait() // the first process has lost nothing, whatever the model says
	s.CloseSession()
	if m := s.ask(other, "session/load", nil); m.Error != nil {
		t.Errorf("session/load after the first process closed it: %+v", m.Error)
	}
	if m := s.ask(other, "session/delete", nil); m.Error != nil {
		t.Errorf("session/delete of a session that is open here: %+v", m.Error)
	}
	if m := s.ask(s.Agent, "session/load", nil); m.Error == nil || m.Error.Code != -32002 {
		t.Errorf("session/load of a deleted session: %s", m.Result)
	}
}

// A fork ends with the message that its _meta names; one that the session does not have is an
// error (R142).
func TestStored_ForkAtAMessage(t *testing.T) {
	t.Parallel()
	s := newStored(t)
	m := s.ask(s.Agent, "session/fork", map[string]any{"messageId": "msg_none"})
	if m.Error == nil || m.Error.Code != -32002 || !strings.Contains(m.Error.Message, "msg_none") {
		t.Errorf("a fork at a message that is not there: %+v", m.Error)
	}
	m = s.ask(s.Agent, "session/fork", map[string]any{"messageId": s.messageOf("The first.")})
	if m.Error != nil {
		t.Fatalf("%+v", m.Error)
	}
	s.promptIn(s.Agent, m, "copy")
	s.Prompt("all").Ends("end_turn")
}

// A fork shows how full the window is with the messages that it has: as the server counted, or as it was
// estimated, at the message that it ends with (R142).
func TestStored_ForkHasItsUsage(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, model string }{
		{"counted", `{"when": "^one$", "say": "The first.", "usage": {"input": 1000, "output": 50}}
{"when": "^two$", "say": "The second.", "usage": {"input": 7000, "output": 60}}
`},
		{"estimated", storedModel},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newStoredWith(t, test.model)
			first := s.messageOf("The first.")
			after := s.used("the first turn", s.ID)
			_ = s.messageOf("The second.")
			whole := s.used("the second turn", s.ID)
			if after == whole || test.name == "counted" && (after != "1050" || whole != "7060") {
				t.Fatalf("the session used %s and %s", after, whole)
			}
			for _, fork := range []struct {
				meta any
				want string
			}{{map[string]any{"messageId": first}, after}, {nil, whole}} {
				m := s.ask(s.Agent, "session/fork", fork.meta)
				id, _ := m.Get("result.sessionId").(string)
				copied := &acptest.Session{Agent: s.Agent, ID: id, Opened: m}
				copied.CloseSession()
				s.Request("session/load", map[string]any{"sessionId": id, "cwd": s.dir, "mcpServers": []any{}}).Result()
				if used := s.used("the fork", id); used != fork.want {
					t.Errorf("%s: the fork used %s, want %s", test.name, used, fork.want)
				}
			}
		})
	}
}

// used is how full the window is by the next update of a session that says so.
func (s *stored) used(what, session string) string {
	s.t.Helper()
	m := s.Expect("the usage of "+what, func(m *acptest.Message) bool {
		kind, _ := m.Update()
		return kind == "usage_update" && m.Session() == session
	})
	return fmt.Sprint(m.Get("params.update.used"))
}

// promptIn has a turn in the session that an answer opened.
func (s *stored) promptIn(a *acptest.Agent, opened *acptest.Message, text string) {
	s.t.Helper()
	id, _ := opened.Get("result.sessionId").(string)
	if id == "" || id == s.ID {
		s.t.Fatalf("the copy is session %q", id)
	}
	(&acptest.Session{Agent: a, ID: id, Opened: opened}).Prompt(text).Ends("end_turn")
}

// messageOf is the id of the message that said a text.
func (s *stored) messageOf(text string) string {
	s.t.Helper()
	m := s.Expect(text, acptest.Update("agent_message_chunk", "content.text", text))
	_, update := m.Update()
	id, _ := update["messageId"].(string)
	return id
}
