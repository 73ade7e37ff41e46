package peer_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"acp-agent/internal/peer"
)

// program is the other side: what it reads and writes.
type program struct {
	in  *bufio.Reader
	out io.WriteCloser
}

type pipe struct {
	io.Reader
	io.Writer
	close func()
}

func (p *pipe) Close() error {
	p.close()
	return nil
}

// newPeer starts a peer in lines over pipes without a buffer.
func newPeer(o peer.Options) (*peer.Peer, *program) {
	toUs, fromIt := io.Pipe()
	toIt, fromUs := io.Pipe()
	shut := func() { _, _ = fromIt.Close(), toIt.Close() }
	return peer.New(&pipe{toUs, fromUs, shut}, o), &program{bufio.NewReader(toIt), fromIt}
}

// next reads a message.
func (p *program) next(t *testing.T) peer.Message {
	t.Helper()
	line, err := p.in.ReadString('\n')
	var m peer.Message
	if err != nil || json.Unmarshal([]byte(line), &m) != nil {
		t.Errorf("read %q, %v", line, err)
	}
	return m
}

func TestPeer_Call(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var noted []string
		p, it := newPeer(peer.Options{
			Notified:  func(method string, _ json.RawMessage) { noted = append(noted, method) },
			Requested: func(method string, _ json.RawMessage) (any, bool) { return []int{1}, method == "known" },
		})
		defer p.Close()
		go func() {
			m := it.next(t)
			fmt.Fprintf(it.out, "Welcome!\n{\"method\":\"news\"}\n{\"id\":999,\"result\":0}\n{\"id\":\"%s\",\"result\":{\"method\":%q}}\n", m.ID, m.Method)
			m = it.next(t)
			fmt.Fprintf(it.out, "{\"id\":%s,\"error\":{\"code\":-1,\"message\":\"no\"}}\n{\"id\":\"a\",\"method\":\"known\"}\n", m.ID)
			if m = it.next(t); string(m.ID) != `"a"` || string(m.Result) != "[1]" {
				t.Errorf("its request is answered with %+v", m)
			}
			fmt.Fprint(it.out, "{\"id\":-7,\"method\":\"other\"}\n")
			if m = it.next(t); string(m.ID) != "-7" || m.Error == nil || m.Error.Message != "not supported: other" {
				t.Errorf("its request is answered with %+v", m)
			}
			_ = it.out.Close()
		}()
		result, err := p.Call(t.Context(), "first", struct{}{})
		if err != nil || string(result) != `{"method":"first"}` || strings.Join(noted, " ") != "news" {
			t.Errorf("%s, %v, notifications %q", result, err, noted)
		}
		var answered *peer.Error
		if _, err = p.Call(t.Context(), "second", nil); !errors.As(err, &answered) || answered.Message != "no" || p.Err() != nil {
			t.Errorf("%v, peer %v", err, p.Err())
		}
		<-p.Done()
		if _, err := p.Call(t.Context(), "third", nil); !errors.Is(err, peer.ErrEnded) {
			t.Errorf("after its end: %v", err)
		}
	})
}

// A call whose context ends returns, and the process is told.
func TestPeer_Cancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, it := newPeer(peer.Options{Cancel: "cancel"})
		defer p.Close()
		why := errors.New("enough")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, why)
		defer cancel()
		told := make(chan struct{})
		go func() {
			defer close(told)
			it.next(t)
			if m := it.next(t); m.Method != "cancel" || string(m.Params) != `{"id":1}` {
				t.Errorf("it is told %+v", m)
			}
		}()
		if _, err := p.Call(ctx, "long", nil); !errors.Is(err, why) {
			t.Error(err)
		}
		<-told
		if p.Err() != nil {
			t.Errorf("the peer ended: %v", p.Err())
		}
	})
}

// A process that does not read keeps no caller, and is ended after a grace.
func TestPeer_NotReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := newPeer(peer.Options{})
		defer p.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		if _, err := p.Call(ctx, "x", nil); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		<-p.Done()
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("it was ended after %v", took)
		}
	})
}

// A process that asks and does not read the answers is ended.
func TestPeer_AsksWithoutEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, it := newPeer(peer.Options{})
		defer p.Close()
		for id := 0; ; id++ {
			if _, err := fmt.Fprintf(it.out, "{\"id\":%d,\"method\":\"x\"}\n", id); err != nil {
				break
			}
			if id > 1000 {
				t.Fatal("it may ask without end")
			}
		}
		<-p.Done()
	})
}

func TestPeer_TooLarge(t *testing.T) {
	t.Parallel()
	p, it := newPeer(peer.Options{})
	defer p.Close()
	go func() {
		for piece := strings.Repeat("x", 1<<20); ; {
			if _, err := io.WriteString(it.out, piece); err != nil {
				return // the peer has ended the process
			}
		}
	}()
	<-p.Done()
	if !errors.Is(p.Err(), peer.ErrFrame) {
		t.Error(p.Err())
	}
}
