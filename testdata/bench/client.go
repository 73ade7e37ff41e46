package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// subject is one of the two programs, running.
type subject struct {
	name, home string
	cmd        *exec.Cmd
	stdin      io.WriteCloser
	ended      chan struct{} // the reader has seen the end of stdout
	next       int

	// watch, when set, sees every session/update in the moment it is read.
	watch atomic.Pointer[func(line []byte, at time.Time)]

	mu      sync.Mutex // guards writing, and answers
	answers map[int]chan answer
}

type answer struct {
	result json.RawMessage
	err    error
	at     time.Time
}

// start starts a program against a model server; home and the project are its own.
func start(ctx context.Context, name, binary, home, model string, args ...string) (*subject, error) {
	if err := os.MkdirAll(filepath.Join(home, "project"), 0o755); err != nil {
		return nil, err
	}
	s := &subject{name: name, home: home, ended: make(chan struct{}), answers: map[int]chan answer{}}
	s.cmd = exec.CommandContext(ctx, binary, args...)
	s.cmd.Dir, s.cmd.Stderr = home, os.Stderr
	s.cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home,
		"XDG_CONFIG_HOME=" + home + "/config", "XDG_DATA_HOME=" + home + "/data",
		"XDG_STATE_HOME=" + home + "/state", "XDG_RUNTIME_DIR=" + home + "/run",
		"OPENAI_BASE_URL=" + model, "OPENAI_API_KEY=none", "OPENAI_MODEL=m",
	}
	var err error
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go s.read(stdout)
	return s, nil
}

func (s *subject) project(name string) string { return filepath.Join(s.home, "project", name) }

// read takes the lines of the program, until its stdout ends.
func (s *subject) read(stdout io.Reader) {
	defer close(s.ended)
	in := bufio.NewReaderSize(stdout, 1<<20)
	update := []byte(`"session/update"`)
	for {
		line, err := in.ReadBytes('\n')
		at := time.Now()
		if err != nil {
			break
		}
		if bytes.Contains(line[:min(len(line), 200)], update) || bytes.Contains(line, update) {
			if watch := s.watch.Load(); watch != nil {
				(*watch)(line, at)
			}
			continue
		}
		s.take(line, at)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, waiting := range s.answers {
		waiting <- answer{err: errors.New("the program ended")}
	}
}

// take takes an answer, or a question, which is always allowed.
func (s *subject) take(line []byte, at time.Time) {
	var m struct {
		ID            json.RawMessage
		Method        string
		Result, Error json.RawMessage
		Params        struct {
			Options []struct{ OptionID, Kind string }
		}
	}
	if err := json.Unmarshal(line, &m); err != nil {
		fmt.Fprintf(os.Stderr, "%s wrote %q\n", s.name, line)
		return
	}
	if m.Method != "" {
		for _, option := range m.Params.Options {
			if option.Kind == "allow_once" {
				_ = s.send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": map[string]any{
					"outcome": map[string]any{"outcome": "selected", "optionId": option.OptionID},
				}})
			}
		}
		return
	}
	var id int
	if json.Unmarshal(m.ID, &id) != nil {
		return
	}
	a := answer{result: m.Result, at: at}
	if m.Error != nil {
		a.err = fmt.Errorf("%s: %s", s.name, m.Error)
	}
	s.mu.Lock()
	waiting := s.answers[id]
	delete(s.answers, id)
	s.mu.Unlock()
	if waiting != nil {
		waiting <- a
	}
}

func (s *subject) send(message any) error {
	line, err := json.Marshal(message)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err = s.stdin.Write(append(line, '\n'))
	return err
}

// request sends a request; the channel gets its answer.
func (s *subject) request(method string, params any) (<-chan answer, error) {
	s.mu.Lock()
	s.next++
	id, waiting := s.next, make(chan answer, 1)
	s.answers[id] = waiting
	s.mu.Unlock()
	return waiting, s.send(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

// call sends a request and waits; the time is that between writing and reading.
func (s *subject) call(method string, params, result any) (time.Duration, error) {
	begun := time.Now()
	waiting, err := s.request(method, params)
	if err != nil {
		return 0, err
	}
	select {
	case a := <-waiting:
		if a.err == nil && result != nil {
			a.err = json.Unmarshal(a.result, result)
		}
		return a.at.Sub(begun), a.err
	case <-time.After(time.Minute):
		return 0, fmt.Errorf("%s did not answer %s", s.name, method)
	}
}

func (s *subject) initialize() error {
	_, err := s.call("initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": map[string]any{}}, nil)
	return err
}

// open opens a session and says how long that took.
func (s *subject) open() (string, time.Duration, error) {
	var opened struct{ SessionID string }
	took, err := s.call("session/new", map[string]any{"cwd": s.project(""), "mcpServers": []any{}}, &opened)
	return opened.SessionID, took, err
}

func promptParams(session, text string) any {
	return map[string]any{"sessionId": session, "prompt": []any{map[string]any{"type": "text", "text": text}}}
}

// prompt runs a turn to its stop, and says how long that took.
func (s *subject) prompt(session, text string) (time.Duration, error) {
	var ended struct{ StopReason string }
	took, err := s.call("session/prompt", promptParams(session, text), &ended)
	if err == nil && ended.StopReason != "end_turn" {
		err = fmt.Errorf("%s: the turn %q ended with %q", s.name, text, ended.StopReason)
	}
	return took, err
}

// watching runs f while watch sees the updates.
func (s *subject) watching(watch func(line []byte, at time.Time), f func() error) error {
	s.watch.Store(&watch)
	defer s.watch.Store(nil)
	return f()
}

// stop closes stdin and waits for the end; it says how long that took.
func (s *subject) stop() (time.Duration, error) {
	begun := time.Now()
	_ = s.stdin.Close()
	<-s.ended
	err := s.cmd.Wait()
	return time.Since(begun), err
}
