package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"acp-agent/mcp"
)

// R92: the directories of the session are told in their order; what a server says for a log
// is one cleaned line of ours, where debugging is on.
func TestRoots_AndLog(t *testing.T) {
	for _, level := range []slog.Level{slog.LevelInfo, slog.LevelDebug} {
		t.Run(level.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				asked := make(chan string, 1)
				m := mcp.New(mcp.Options{
					Roots: []string{"/work", "/also here"}, Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: level})),
					Start: func(context.Context, mcp.Server, io.Writer) (io.ReadWriteCloser, error) {
						server := &fake{tools: []object{plain("x")}}
						end := server.serve(io.Discard)
						return &tap{ReadWriteCloser: end, heard: asked}, nil
					},
				})
				m.Set(local("s"))
				synctest.Wait()
				m.Close()
				got := <-asked
				if want := `"result":{"roots":[{"uri":"file:///work"},{"uri":"file:///also%20here"}]}`; !strings.Contains(got, want) {
					t.Errorf("answered %s", got)
				}
				lines := strings.Count(log.String(), "mcp server says")
				if level == slog.LevelInfo && lines != 0 || level == slog.LevelDebug && (lines != 2 || log.Len() > 1500 || strings.ContainsAny(log.String(), "\x1b\u202e")) {
					t.Errorf("%d lines: %s", lines, log.String())
				}
			})
		})
	}
}

// R92: a server that is not told the directories hears nothing of them: they are not offered, and
// who asks all the same is refused. The others of the session are told.
func TestRoots_NotTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := map[string]chan string{"told": make(chan string, 1), "not told": make(chan string, 1)}
		offered := map[string]chan string{"told": make(chan string, 1), "not told": make(chan string, 1)}
		m := mcp.New(mcp.Options{
			Roots: []string{"/work"},
			Start: func(_ context.Context, s mcp.Server, _ io.Writer) (io.ReadWriteCloser, error) {
				server := &fake{tools: []object{plain("x")}}
				return &tap{ReadWriteCloser: server.serve(io.Discard), heard: asked[s.Name], introduced: offered[s.Name]}, nil
			},
		})
		m.Set([]mcp.Server{{Name: "told", Command: "x"}, {Name: "not told", Command: "x", NoRoots: true}})
		synctest.Wait()
		m.Close()
		for name, want := range map[string]struct {
			offered bool
			answer  string
		}{
			"told":     {true, `"result":{"roots":[{"uri":"file:///work"}]}`},
			"not told": {false, `"error":{"code":-32601,`},
		} {
			if got := <-offered[name]; strings.Contains(got, `"roots"`) != want.offered {
				t.Errorf("%s: introduced by %s", name, got)
			}
			if got := <-asked[name]; !strings.Contains(got, want.answer) || strings.Contains(got, "/work") != want.offered {
				t.Errorf("%s: answered %s", name, got)
			}
		}
	})
}

// tap puts, before what a server says first, two messages for the log and a question about roots, and
// keeps the answer to that, and how we introduce ourselves where introduced is not nil.
type tap struct {
	io.ReadWriteCloser
	before io.Reader
	heard  chan<- string
	// introduced gets the request initialize.
	introduced chan<- string
}

func (p *tap) Read(b []byte) (int, error) {
	if p.before == nil {
		noise, _ := json.Marshal(object{"jsonrpc": "2.0", "method": "notifications/message", "params": object{"level": "error", "data": "a\x1b[2J\nb\u202e" + strings.Repeat("x", 1<<20)}})
		deep, _ := json.Marshal(object{"jsonrpc": "2.0", "method": "notifications/message", "params": object{"level": "le\nvel", "data": object{"a": []int{1}}}})
		p.before = strings.NewReader(string(noise) + "\n" + string(deep) + "\n" + `{"jsonrpc":"2.0","id":"r","method":"roots/list"}` + "\n")
	}
	if n, err := p.before.Read(b); n > 0 || err == nil {
		return n, err
	}
	return p.ReadWriteCloser.Read(b)
}

func (p *tap) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte(`"id":"r"`)) {
		p.heard <- string(b)
		return len(b), nil
	}
	if p.introduced != nil && bytes.Contains(b, []byte(`"method":"initialize"`)) {
		p.introduced <- string(b)
	}
	return p.ReadWriteCloser.Write(b)
}
