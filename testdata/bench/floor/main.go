// Floor is a yardstick and nothing else: the least program that could pass for an agent,
// to measure beside acp-agent what the machine itself costs (docs/performance.md).
//
// It speaks just enough of ACP over stdio and of Chat Completions for the benchmarks, has
// the tools read, edit and bash, and does without everything that makes an agent fit for
// use: no permissions, no confinement, no limits, no checks of what it is sent, no care
// for a file when the power fails, nothing that is stored, nothing that is coalesced.
// It imports the standard library only. Nobody should run it on anything they need.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
)

// server is one connection.
type server struct {
	out sync.Mutex

	mu       sync.Mutex
	sessions map[string]*session
	prompts  sync.WaitGroup
}

// session is a conversation; one turn runs at a time.
type session struct {
	id       string
	server   *server
	cwd      string
	messages []message

	mu     sync.Mutex
	cancel context.CancelFunc
}

type envelope struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

func main() {
	s := &server{sessions: map[string]*session{}}
	in := bufio.NewReaderSize(os.Stdin, 1<<16)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			break
		}
		var m envelope
		if json.Unmarshal(line, &m) == nil {
			s.serve(m)
		}
	}
	s.mu.Lock()
	for _, session := range s.sessions {
		session.stop()
	}
	s.mu.Unlock()
	s.prompts.Wait()
}

func (s *server) serve(m envelope) {
	var params struct {
		SessionID string `json:"sessionId"`
		Cwd       string `json:"cwd"`
		Prompt    []struct {
			Text string `json:"text"`
		} `json:"prompt"`
	}
	_ = json.Unmarshal(m.Params, &params)
	switch m.Method {
	case "initialize":
		s.reply(m.ID, map[string]any{"protocolVersion": 1, "agentCapabilities": map[string]any{}, "authMethods": []any{}})
	case "session/new":
		s.mu.Lock()
		opened := &session{id: fmt.Sprint("s", len(s.sessions)), server: s, cwd: params.Cwd}
		opened.messages = []message{{Role: "system", Content: "You are a coding agent."}}
		s.sessions[opened.id] = opened
		s.mu.Unlock()
		s.reply(m.ID, map[string]any{"sessionId": opened.id})
	case "session/cancel":
		s.find(params.SessionID).stop()
	case "session/prompt":
		opened := s.find(params.SessionID)
		ctx := opened.start()
		s.prompts.Go(func() {
			s.reply(m.ID, map[string]any{"stopReason": opened.turn(ctx, params.Prompt[0].Text)})
		})
	default:
		if m.ID != nil {
			s.reply(m.ID, map[string]any{})
		}
	}
}

func (s *server) find(id string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions[id]
}

func (s *session) start() context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	return ctx
}

func (s *session) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancel != nil {
		s.cancel()
	}
}

func (s *server) reply(id json.RawMessage, result any) {
	s.send(map[string]any{"jsonrpc": "2.0", "id": id, "result": result})
}

// chunk, opened and ended are the updates that there are.
type chunk struct {
	Kind    string `json:"sessionUpdate"`
	Content block  `json:"content"`
}

type opened struct {
	Kind     string          `json:"sessionUpdate"`
	CallID   string          `json:"toolCallId"`
	Title    string          `json:"title"`
	Status   string          `json:"status"`
	RawInput json.RawMessage `json:"rawInput"`
}

type ended struct {
	Kind    string    `json:"sessionUpdate"`
	CallID  string    `json:"toolCallId"`
	Status  string    `json:"status"`
	Content []content `json:"content"`
}

type block struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type content struct {
	Type    string `json:"type"`
	Content block  `json:"content"`
}

type notification struct {
	Version string `json:"jsonrpc"`
	Method  string `json:"method"`
	Params  params `json:"params"`
}

type params struct {
	SessionID string `json:"sessionId"`
	Update    any    `json:"update"`
}

func (s *session) update(update any) {
	s.server.send(notification{"2.0", "session/update", params{s.id, update}})
}

func (s *server) send(message any) {
	line, err := json.Marshal(message)
	if err != nil {
		return
	}
	s.out.Lock()
	defer s.out.Unlock()
	_, _ = os.Stdout.Write(append(line, '\n'))
}
