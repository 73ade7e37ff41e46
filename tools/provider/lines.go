package provider

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"acp-agent/internal/textcut"
)

// lines is the way to a program: one message a line. What it prints beside is left out.
//
// Goroutines: read and write, from newLines to the end of the stream, which close brings
// about and waits for.
type lines struct {
	stream io.ReadWriteCloser
	// notified is called on the goroutine that reads, with the method of a notification.
	notified func(method string)
	out      chan []byte
	done     chan struct{} // closed when the stream has ended
	running  sync.WaitGroup

	mu      sync.Mutex
	last    int64
	waiting map[int64]chan *message
	ended   error
}

func newLines(stream io.ReadWriteCloser, notified func(method string)) *lines {
	l := &lines{
		stream: stream, notified: notified, out: make(chan []byte), done: make(chan struct{}), waiting: map[int64]chan *message{},
	}
	l.running.Go(l.read)
	l.running.Go(l.write)
	return l
}

// call implements link.
func (l *lines) call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	answer := make(chan *message, 1)
	l.mu.Lock()
	l.last++
	id := l.last
	l.waiting[id] = answer
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.waiting, id)
	}()
	line, err := request(id, method, params)
	if err != nil {
		return nil, err
	}
	select {
	case l.out <- append(line, '\n'):
	case <-l.done:
		return nil, l.Err()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	select {
	case m := <-answer:
		return m.outcome()
	case <-l.done:
		select { // it may have answered and ended
		case m := <-answer:
			return m.outcome()
		default:
			return nil, l.Err()
		}
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Err implements link.
func (l *lines) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ended
}

// Close implements link. The stream's Close ends the program and waits for it.
func (l *lines) Close() {
	_ = l.stream.Close() // the program is gone, whatever it says
	l.running.Wait()
}

func (l *lines) write() {
	for {
		select {
		case line := <-l.out:
			if _, err := l.stream.Write(line); err != nil {
				_ = l.stream.Close() // which ends read, too
				return
			}
		case <-l.done:
			return
		}
	}
}

func (l *lines) read() {
	err := l.receive()
	if errors.Is(err, io.EOF) {
		err = errors.New("its program has ended")
	}
	l.mu.Lock()
	l.ended = err
	l.mu.Unlock()
	close(l.done)
	_ = l.stream.Close()
}

func (l *lines) receive() error {
	in := bufio.NewReaderSize(l.stream, 64<<10)
	for {
		line, err := textcut.Line(in, maxFrame)
		switch {
		case errors.Is(err, textcut.ErrLong):
			return errFrame
		case err != nil:
			return err
		}
		l.take(bytes.TrimSpace(line))
	}
}

// take hands a message on.
func (l *lines) take(line []byte) {
	var m message
	if !bytes.HasPrefix(line, []byte("{")) || json.Unmarshal(line, &m) != nil {
		return
	}
	switch {
	case m.Method != "" && len(m.ID) > 0:
		answer, err := json.Marshal(message{Version: "2.0", ID: m.ID, Error: &rpcError{noMethod, "the agent has no such method"}})
		if err == nil {
			l.offer(append(answer, '\n'))
		}
	case m.Method != "":
		l.notified(m.Method)
	default:
		id, _ := m.number()
		l.mu.Lock()
		answer := l.waiting[id]
		delete(l.waiting, id) // a second answer is nobody's
		l.mu.Unlock()
		if answer != nil {
			answer <- &m
		}
	}
}

// offer writes a line, or drops it while another one is being written: who reads must
// not wait for a program that does not read.
func (l *lines) offer(line []byte) {
	select {
	case l.out <- line:
	default:
	}
}
