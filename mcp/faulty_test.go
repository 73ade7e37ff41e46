package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	runtimes "runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"acp-agent/mcp"
	"acp-agent/tools"
)

// A server that fails costs its own tools and nothing else, and is there again within 10 s
// when it can be (issue of faulty servers, M2).
func TestFaultyServers(t *testing.T) {
	for _, tt := range []struct {
		name    string
		start   func(life int, out io.Writer) error
		within  time.Duration // until it is known how it stands
		state   mcp.State
		problem string
		ignored int
	}{
		{"crashes at start", func(int, io.Writer) error { return errors.New("no database\nboom") }, 0, mcp.Failed, "it ended; stderr: boom", 0},
		{"says where it crashed", func(int, io.Writer) error {
			return errors.New("Error: no such file\n    at main (x.js:1)\n\nNode.js v20")
		}, 0, mcp.Failed, "it ended; stderr: Error: no such file", 0},
		{"hangs in initialize", func(int, io.Writer) error { return errHang }, 30 * time.Second, mcp.Failed, "it did not answer within 30s", 0},
		{"greets on its output", func(_ int, out io.Writer) error {
			_, err := io.WriteString(out, "Welcome!\n{\"level\":\"info\"}\n\n[]\n\x00\x01\n")
			return err
		}, 0, mcp.Ready, "", 4},
		{"sends a message without end", func(_ int, out io.Writer) error {
			_, err := io.Copy(out, io.LimitReader(zeros{}, 1<<30))
			return err
		}, 0, mcp.Failed, "it sent a message of more than 16 MiB", 0},
		{"crashes once", func(life int, _ io.Writer) error {
			if life == 0 {
				return errors.New("not yet")
			}
			return nil
		}, time.Second, mcp.Ready, "it ended; stderr: not yet", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := manage(t, map[string]*fake{"bad": {start: tt.start, tools: []object{plain("x")}}, "good": {tools: []object{plain("y")}}})
				began := time.Now()
				m.Set(local("bad", "good"))
				if waited := time.Since(began); waited != 0 {
					t.Errorf("Set waited %v", waited)
				}
				time.Sleep(tt.within)
				synctest.Wait()
				status := m.Status()
				if status[1].State != mcp.Ready || !slices.Contains(ids(m), "mcp__good__y") {
					t.Errorf("the other server is %s", status[1].State)
				}
				got := status[0]
				if got.State != tt.state || !strings.Contains(got.Problem, tt.problem) || got.Ignored != tt.ignored {
					t.Errorf("it is %s after %q with %d lines ignored; want %s, %q, %d", got.State, got.Problem, got.Ignored, tt.state, tt.problem, tt.ignored)
				}
				if has := slices.Contains(ids(m), "mcp__bad__x"); has != (tt.state == mcp.Ready) {
					t.Errorf("its tool is there: %v", has)
				}
				m.Close()
			})
		})
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	copy(b, bytes.Repeat([]byte("0"), len(b)))
	return len(b), nil
}

// R91: a server that fails is tried again after 1, 2, 5, 15, 60 s, and then every 60 s.
func TestReconnect_Backoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var at []float64
		bad := &fake{start: func(int, io.Writer) error {
			at = append(at, time.Since(began).Seconds())
			return errors.New("no")
		}}
		m := manage(t, map[string]*fake{"bad": bad})
		m.Set(local("bad"))
		time.Sleep(204 * time.Second)
		m.Close()
		if want := []float64{0, 1, 3, 8, 23, 83, 143, 203}; !slices.Equal(at, want) {
			t.Errorf("started at %v s, want %v", at, want)
		}
	})
}

// A program that never comes up is started once a minute, whatever waits for it, is logged
// once, and leaves nothing behind.
func TestReconnect_ALoopCostsLittle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		starts, lines := 0, &bytes.Buffer{}
		bad := &fake{start: func(int, io.Writer) error {
			starts++
			return errors.New("no database")
		}}
		m := mcp.New(mcp.Options{
			Logger: slog.New(slog.NewTextHandler(lines, nil)),
			Start: func(_ context.Context, _ mcp.Server, stderr io.Writer) (io.ReadWriteCloser, error) {
				return bad.serve(stderr), nil
			},
		})
		m.Set(local("bad"))
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		before := runtimes.NumGoroutine()
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		after := runtimes.NumGoroutine()
		m.Close()
		if starts < 24*60 || starts > 24*60+10 {
			t.Errorf("%d starts in a day", starts)
		}
		if n := strings.Count(lines.String(), "no database"); n != 1 {
			t.Errorf("it was logged %d times:\n%.1000s", n, lines)
		}
		// The runtime has some of its own now and then. One that each start left would make a thousand.
		if after > before+starts/100 {
			t.Errorf("%d goroutines after a day, %d before", after, before)
		}
	})
}

// R91: a call during which the server ends fails, so do those until it is back, none of
// them waits, and after a second it is.
func TestCall_ServerEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &fake{tools: []object{plain("x")}}
		dying := true
		server.call = func(l *life, _ json.RawMessage, _ string, _ object) (any, error) {
			if dying {
				l.end()
				return nil, errQuiet
			}
			return text("done"), nil
		}
		m := manage(t, map[string]*fake{"s": server})
		m.Set(local("s"))
		synctest.Wait()
		began := time.Now()
		for i := range 3 {
			_, err := run(t, t.Context(), m, "mcp__s__x", &runtime{})
			failure, ok := errors.AsType[*tools.Error](err)
			if !ok || failure.Kind != tools.Unavailable || failure.Message != "mcp server s is unavailable" {
				t.Errorf("call %d: %v", i, err)
			}
		}
		if waited := time.Since(began); waited != 0 {
			t.Errorf("the calls waited %v", waited)
		}
		dying = false
		time.Sleep(time.Second)
		synctest.Wait()
		if result, err := run(t, t.Context(), m, "mcp__s__x", &runtime{}); err != nil || result.Text != "done" {
			t.Errorf("after a second: %+v, %v", result, err)
		}
		m.Close()
	})
}

// A server that does not read what it is sent is given up with the call, and connected anew.
func TestCall_ServerDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &fake{tools: []object{plain("x")}}
		server.call = func(*life, json.RawMessage, string, object) (any, error) { return nil, errQuiet }
		m := manage(t, map[string]*fake{"s": server})
		m.Set(local("s"))
		synctest.Wait()
		_, err := run(t, t.Context(), m, "mcp__s__x", &runtime{})
		if failure, ok := errors.AsType[*tools.Error](err); !ok || failure.Kind != tools.Timeout {
			t.Errorf("%v, want a timeout", err)
		}
		m.Close()
	})
}

// R91: what a server says has changed is known with another generation, and what is gone
// is gone.
func TestTools_Change(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &fake{tools: []object{plain("b"), plain("a")}}
		m := manage(t, map[string]*fake{"s": server})
		m.Set(local("s"))
		synctest.Wait()
		_, before := m.Tools()
		if got := fmt.Sprint(ids(m)); got != "[mcp__s__a mcp__s__b]" {
			t.Errorf("at first %s", got)
		}
		server.mu.Lock()
		server.tools = []object{plain("c"), plain("a")}
		server.mu.Unlock()
		server.now().notify("notifications/tools/list_changed", object{})
		synctest.Wait()
		_, after := m.Tools()
		if got := fmt.Sprint(ids(m)); got != "[mcp__s__a mcp__s__c]" || after == before {
			t.Errorf("then %s, generation %d after %d", got, after, before)
		}
		m.Close()
	})
}

// A server that says after each reading that its list has changed keeps no one busy, and
// what it had last is known.
func TestTools_ChangeWithoutEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, readings := &fake{can: object{"prompts": object{}}}, 0
		server.other = func(method string, _ object) object {
			if method != "prompts/list" {
				return nil
			}
			readings++
			last := server.now()
			go last.notify("notifications/prompts/list_changed", object{})
			return object{"prompts": []object{{"name": fmt.Sprint("p", readings)}}}
		}
		announced := 0
		m := mcp.New(mcp.Options{Changed: func() { announced++ }, Start: func(context.Context, mcp.Server, io.Writer) (io.ReadWriteCloser, error) {
			return server.serve(io.Discard), nil
		}})
		m.Set(local("s"))
		time.Sleep(time.Minute)
		synctest.Wait()
		if readings < 30 || readings > 65 || announced > readings {
			t.Errorf("it was read %d times in a minute, and told of %d times", readings, announced)
		}
		if got := m.Prompts(); len(got) != 1 || got[0].Name != fmt.Sprint("p", readings) {
			t.Errorf("known is %v after %d readings", got, readings)
		}
		m.Close()
	})
}

// Set leaves alone what has not changed, ends what is gone, and gives a name to one server.
func TestSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := &fake{tools: []object{plain("x")}}, &fake{tools: []object{plain("y")}}
		m := manage(t, map[string]*fake{"a": a, "b": b})
		m.Set(local("a", "b", "a"))
		synctest.Wait()
		m.Set(local("a", "b", "a"))
		synctest.Wait()
		status := m.Status()
		if status[2].State != mcp.Failed || status[2].Problem != "another server has this name" {
			t.Errorf("the second of one name: %+v", status[2])
		}
		if a.lives != 1 || b.lives != 1 {
			t.Errorf("started %d and %d times", a.lives, b.lives)
		}
		m.Set([]mcp.Server{{Name: "a", Command: "a", Args: []string{"other"}}})
		synctest.Wait()
		if got := fmt.Sprint(ids(m)); got != "[mcp__a__x]" || a.lives != 2 {
			t.Errorf("%s after %d lives", got, a.lives)
		}
		m.Close()
		m.Set(local("b"))
		if b.lives != 1 {
			t.Error("started after Close")
		}
	})
}
