package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"acp-agent/mcp"
	"acp-agent/tools"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type object = map[string]any

// fake is a server as a script: what it lists and how it answers. Its fields are set
// before it is used, or under mu.
type fake struct {
	mu sync.Mutex
	// tools are what it lists.
	tools []object
	// start is called with the number of each life, from 0, before it listens; an error
	// ends the life there.
	start func(life int, out io.Writer) error
	// call answers a call of a tool; the error is one of the protocol.
	call func(l *life, id json.RawMessage, name string, params object) (result any, err error)
	// can are capabilities beside those for tools, and other answers any other request; nil
	// is not an answer.
	can   object
	other func(method string, params object) object
	// endless says that its list has always one more page, the same.
	endless bool
	lives   int
	last    *life
}

// life is one life of a fake.
type life struct {
	out       io.Writer
	end       func()
	cancelled chan string // ids of calls that were given up
	mu        sync.Mutex
}

// errHang, from start, keeps the server from ever answering.
var errHang = errors.New("hang")

// errQuiet, from call, gives no answer.
var errQuiet = errors.New("quiet")

// pipe is the agent's end.
type pipe struct {
	io.Reader
	io.Writer
	end func()
}

func (p pipe) Close() error {
	p.end()
	return nil
}

// serve begins a life.
func (f *fake) serve(stderr io.Writer) io.ReadWriteCloser {
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	end := func() {
		in.Close()
		out.Close()
		toServer.Close()
	}
	l := &life{out: out, end: end, cancelled: make(chan string, 10)}
	f.mu.Lock()
	n := f.lives
	f.lives++
	f.last = l
	f.mu.Unlock()
	go func() {
		defer end()
		if f.start != nil {
			if err := f.start(n, out); errors.Is(err, errHang) {
				io.Copy(io.Discard, in)
				return
			} else if err != nil {
				fmt.Fprintln(stderr, err)
				return
			}
		}
		reader := bufio.NewReader(in)
		for {
			line, err := reader.ReadBytes('\n')
			if err != nil {
				return
			}
			var m struct {
				ID     json.RawMessage
				Method string
				Params object
			}
			if json.Unmarshal(line, &m) != nil {
				return
			}
			f.handle(l, m.ID, m.Method, m.Params)
		}
	}()
	return pipe{fromServer, toServer, func() {
		end()
		fromServer.Close()
	}}
}

func (f *fake) handle(l *life, id json.RawMessage, method string, params object) {
	switch method {
	case "initialize":
		can := object{"tools": object{"listChanged": true}}
		maps.Copy(can, f.can)
		l.reply(id, object{"protocolVersion": "2025-06-18", "serverInfo": object{"name": "fake", "version": "1"}, "capabilities": can})
	case "tools/list":
		f.mu.Lock()
		list := f.tools
		f.mu.Unlock()
		answer := object{"tools": list}
		if f.endless {
			answer["nextCursor"] = "more"
		}
		l.reply(id, answer)
	case "notifications/cancelled":
		l.cancelled <- fmt.Sprint(params["requestId"])
	case "tools/call":
		name, _ := params["name"].(string)
		go func() {
			result, err := f.call(l, id, name, params)
			switch {
			case errors.Is(err, errQuiet):
			case err != nil:
				l.send(object{"jsonrpc": "2.0", "id": id, "error": object{"code": -32602, "message": err.Error()}})
			default:
				l.reply(id, result)
			}
		}()
	default:
		if f.other == nil || id == nil {
			return
		}
		if answer := f.other(method, params); answer != nil {
			l.reply(id, answer)
		}
	}
}

func (l *life) reply(id json.RawMessage, result any) {
	l.send(object{"jsonrpc": "2.0", "id": id, "result": result})
}

func (l *life) send(message object) {
	line, err := json.Marshal(message)
	if err != nil {
		panic(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.out.Write(append(line, '\n')) // it fails only when the client is gone
}

func (l *life) notify(method string, params object) {
	l.send(object{"jsonrpc": "2.0", "method": method, "params": params})
}

// now is the life that goes on.
func (f *fake) now() *life {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

// plain is a tool without arguments.
func plain(name string) object {
	return object{"name": name, "description": "Does " + name + ".", "inputSchema": object{"type": "object"}}
}

func text(s string) object { return object{"content": []object{{"type": "text", "text": s}}} }

// manage starts a Manager over fakes by the names of their servers.
func manage(t *testing.T, fakes map[string]*fake) *mcp.Manager {
	t.Helper()
	m := mcp.New(mcp.Options{Start: func(_ context.Context, s mcp.Server, stderr io.Writer) (io.ReadWriteCloser, error) {
		return fakes[s.Command].serve(stderr), nil
	}})
	t.Cleanup(m.Close)
	return m
}

func local(names ...string) []mcp.Server {
	var list []mcp.Server
	for _, name := range names {
		list = append(list, mcp.Server{Name: name, Command: name})
	}
	return list
}

// runtime is what a call is handed; progress goes to a text.
type runtime struct {
	tools.Runtime
	mu   sync.Mutex
	text strings.Builder
}

func (r *runtime) Progress(b []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text.Write(b)
}

// run calls a tool by its id.
func run(t *testing.T, ctx context.Context, m *mcp.Manager, id string, rt *runtime) (*tools.Result, error) {
	t.Helper()
	list, _ := m.Tools()
	for _, tool := range list {
		if tool.ID == id {
			return tool.Run(ctx, rt, tools.NewArgs(`{"a":1}`))
		}
	}
	t.Fatalf("there is no %s among %d tools", id, len(list))
	return nil, nil
}

func ids(m *mcp.Manager) []string {
	list, _ := m.Tools()
	var ids []string
	for _, tool := range list {
		ids = append(ids, tool.ID)
	}
	return ids
}
