package v1

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"acp-agent/acp/rpc"
	"acp-agent/acp/schema"
	"acp-agent/session"
	"acp-agent/transcript"
)

func (a *Agent) newSession(req *rpc.Request) rpc.Body {
	var params schema.NewSessionRequest
	if err := schema.Decode(req.Params, &params); err != nil && !withoutServers(err) {
		return fail(badParams(req, err))
	}
	o := opening{cwd: params.Cwd, additional: params.AdditionalDirectories, servers: params.MCPServers}
	if err := o.check(req.Method); err != nil {
		return fail(err)
	}
	return func(ctx context.Context) rpc.Reply {
		s, err := a.open(ctx, o)
		if err != nil {
			return rpc.Reply{Err: wireError(err)}
		}
		return rpc.Reply{Result: s.describe(), Then: func() { s.announce(a.conn) }}
	}
}

// opening is what a client asks of a session that is to be opened.
type opening struct {
	cwd        string
	additional []string
	servers    []schema.McpServer
	// stored is the stored session that goes on; "" for a new one. replay says that its
	// conversation is shown.
	stored string
	replay bool
}

// check returns the answer to a request whose directories cannot be used.
func (o opening) check(method string) error {
	for _, dir := range append([]string{o.cwd}, o.additional...) {
		if err := absolute(method, dir); err != nil {
			return err
		}
	}
	return nil
}

func absolute(method, dir string) error {
	if !filepath.IsAbs(dir) || strings.ContainsRune(dir, 0) {
		return rpc.Errorf(rpc.CodeInvalidParams, "%s: directory %q must be an absolute path", method, dir)
	}
	return nil
}

// withoutServers reports whether the only fault of the params is that they lack the list of
// MCP servers, as those of some clients do.
func withoutServers(err error) bool {
	field, ok := errors.AsType[*schema.FieldError](err)
	return ok && *field == schema.FieldError{Path: "mcpServers", Problem: "is missing"}
}

// open opens a session and connects it to the editor.
func (a *Agent) open(ctx context.Context, o opening) (*open, error) {
	a.mu.Lock()
	said := a.client
	a.mu.Unlock()
	s := &open{translator: newTranslator(a.conn, said)}
	link := &link{conn: a.conn, translator: s.translator}
	spec := session.Spec{
		Cwd: o.cwd, Additional: o.additional, Servers: serversOf(o.servers),
		Client: session.Client{
			Sink: s.translator, Asker: &asker{link}, OptionNames: s.translator.out.client.optionNames, Queue: s.translator.questions, Trial: &a.trial,
			Questions: &questioner{link, said.forms}, Person: &elicitor{link, said},
		},
	}
	if said.readFiles || said.writeFiles {
		spec.Editor = &editor{link, said}
	}
	if said.terminals && !said.agentTerminals {
		spec.Terminals = &terminals{link}
	}
	if o.replay {
		s.translator.out.session = o.stored
		spec.Replay = s.translator.replay
		s.translator.startReplay()
	}
	var err error
	if o.stored == "" {
		s.Session, err = a.Core.Open(ctx, spec)
	} else {
		s.Session, err = a.Core.Resume(ctx, o.stored, spec)
	}
	if err != nil {
		s.translator.stop()
		return nil, err
	}
	s.translator.connect(s.ID, s)
	link.session = s.ID
	a.mu.Lock()
	ended := a.ended
	if !ended {
		a.sessions[s.ID], a.alive[s] = s, struct{}{}
	}
	a.mu.Unlock()
	if ended {
		s.end(a.Shutdown) // no process to stop yet
		return nil, session.ErrClosed
	}
	return s, nil
}

func (s *open) describe() *schema.NewSessionResponse {
	answer := &schema.NewSessionResponse{
		SessionID: schema.SessionId(s.ID), Modes: s.modes(), ConfigOptions: s.configOptions(), Meta: s.metaSandbox(),
	}
	s.translator.noteAnswer(
		modeUpdate(string(answer.Modes.CurrentModeID)), optionsUpdate(answer.ConfigOptions), schema.SessionInfoUpdate{Meta: answer.Meta},
	)
	return answer
}

// ended reports whether the session has ended.
func (s *open) ended() bool { return s.Context().Err() != nil }

// end closes the session and its translator.
func (s *open) end(grace time.Duration) {
	s.Session.Close(grace)
	s.translator.stop()
}

// metaSandbox says how commands are confined. The answer to session/new does not wait for the
// probe of the sandbox: until then it says "probing", and a session_info_update follows.
func (s *open) metaSandbox() map[string]any {
	report, known := s.Sandbox()
	if !known {
		return map[string]any{"acp-agent": map[string]any{"sandbox": map[string]any{"kind": "probing"}}}
	}
	return map[string]any{"acp-agent": map[string]any{"sandbox": report}}
}

// announce sends what must follow the answer to session/new. The session's programs start
// when all of that is written, because their start would delay it.
func (s *open) announce(conn *rpc.Conn) {
	s.translator.Emit(transcript.CommandsChanged{})
	if conn.Flush(s.Context()) == nil {
		s.Start()
	}
}

func (a *Agent) closeSession(req *rpc.Request) rpc.Body {
	var params schema.CloseSessionRequest
	if err := decode(req, &params); err != nil {
		return fail(err)
	}
	s := a.detach(string(params.SessionID))
	if s == nil {
		return fail(unknownSession(string(params.SessionID)))
	}
	s.Stop() // on the read loop, so that no queued prompt starts meanwhile
	return func(context.Context) rpc.Reply {
		a.finish(s)
		return rpc.Reply{Result: &schema.CloseSessionResponse{}}
	}
}

// detach takes a session from the ones that requests can name; nil when there is none.
func (a *Agent) detach(id string) *open {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.sessions[id]
	delete(a.sessions, id)
	return s
}

// finish ends a detached session; until it returns, Close ends the session as well.
func (a *Agent) finish(s *open) {
	s.end(a.Grace)
	a.mu.Lock()
	delete(a.alive, s)
	a.mu.Unlock()
}

func unknownSession(id string) error {
	return rpc.Errorf(rpc.CodeResourceNotFound, "unknown session %q", id)
}
