package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"acp-agent/mcp"
	"acp-agent/tools"
)

// fakePerson is a user as functions; one that is nil cannot be asked that.
type fakePerson struct {
	fill  func(context.Context, mcp.Form) (mcp.Answer, error)
	visit func(context.Context, mcp.Visit) (mcp.Answer, func(), error)
}

func (p *fakePerson) Can() (forms, addresses bool) { return p.fill != nil, p.visit != nil }

func (p *fakePerson) Fill(ctx context.Context, f mcp.Form) (mcp.Answer, error) { return p.fill(ctx, f) }

func (p *fakePerson) Visit(ctx context.Context, v mcp.Visit) (mcp.Answer, func(), error) {
	return p.visit(ctx, v)
}

// asker is a server whose one tool asks the user, and says what came of it.
func asker(ask func(ctx context.Context, s *sdk.ServerSession) (string, error)) *sdk.Server {
	server := sdk.NewServer(&sdk.Implementation{Name: "asker", Version: "1"}, nil)
	sdk.AddTool(server, &sdk.Tool{Name: "ask"}, func(ctx context.Context, call *sdk.CallToolRequest, _ map[string]any) (*sdk.CallToolResult, any, error) {
		text, err := ask(ctx, call.Session)
		if err != nil {
			text = "refused: " + err.Error()
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil, nil
	})
	return server
}

func elicit(p *sdk.ElicitParams) func(context.Context, *sdk.ServerSession) (string, error) {
	return func(ctx context.Context, s *sdk.ServerSession) (string, error) {
		result, err := s.Elicit(ctx, p)
		if err != nil {
			return "", err
		}
		content, err := json.Marshal(result.Content)
		return result.Action + " " + string(content), err
	}
}

// spoken starts a Manager with a user over servers of the library's own.
func spoken(t *testing.T, person mcp.Person, servers map[string]*sdk.Server) *mcp.Manager {
	t.Helper()
	m := mcp.New(mcp.Options{Person: person, Start: func(_ context.Context, s mcp.Server, _ io.Writer) (io.ReadWriteCloser, error) {
		in, toServer := io.Pipe()
		fromServer, out := io.Pipe()
		ctx, cancel := context.WithCancel(context.Background())
		go servers[s.Command].Run(ctx, &sdk.IOTransport{Reader: in, Writer: out}) // ends with the pipe
		return pipe{fromServer, toServer, func() {
			cancel()
			in.Close()
			out.Close()
			toServer.Close()
			fromServer.Close()
		}}, nil
	}})
	t.Cleanup(m.Close)
	var list []mcp.Server
	for name := range servers {
		list = append(list, mcp.Server{Name: name, Command: name, Timeout: 10 * time.Second})
	}
	m.Set(list)
	m.Settle(limited(t), time.Time{})
	return m
}

// caller is what a call is handed that may wait for the user.
type caller struct {
	runtime
	id     string
	mu     sync.Mutex
	awaits int
	over   int
}

func (c *caller) CallID() string { return c.id }

func (c *caller) Services() tools.Services {
	return tools.Services{AwaitUser: func(context.Context) func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.awaits++
		return func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.over++
		}
	}}
}

func askTool(ctx context.Context, m *mcp.Manager, rt tools.Runtime) (string, error) {
	list, _ := m.Tools()
	result, err := list[0].Run(ctx, rt, tools.NewArgs(`{}`))
	if err != nil {
		return "", err
	}
	return fmt.Sprint(result.Data), nil
}

const wholeForm = `{"type": "object", "required": ["name", "size"], "properties": {
	"name": {"type": "string", "title": "Your\u202ename", "description": "as on\u0007 the door", "minLength": 1, "maxLength": 20, "default": "Ada"},
	"mail": {"type": "string", "format": "email"},
	"size": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3},
	"part": {"type": "number", "minimum": 0.5},
	"yes": {"type": "boolean", "default": true},
	"color": {"type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"], "default": "g"},
	"shape": {"type": "string", "oneOf": [{"const": "o", "title": "Circle"}]},
	"days": {"type": "array", "items": {"type": "string", "enum": ["mo", "tu"]}, "minItems": 1, "maxItems": 2, "default": ["mo"]},
	"tags": {"type": "array", "items": {"anyOf": [{"const": "x", "title": "Ex"}]}}
}}`

func pointer[T any](v T) *T { return &v }

// A server's form reaches the user by the server's name, bounded and cleaned, and what
// they do reaches the server.
func TestPerson_Form(t *testing.T) {
	filled := map[string]any{"name": "Ada", "size": int64(4), "part": 0.75, "yes": false, "color": "g", "days": []string{"tu"}, "other": "x"}
	for _, tt := range []struct {
		name   string
		answer mcp.Answer
		err    error
		want   string
	}{
		{"filled in", mcp.Answer{Action: mcp.Accept, Content: filled}, nil, `accept {"color":"g","days":["tu"],"name":"Ada","part":0.75,"shape":null,"size":4,"yes":false}`},
		{"declined", mcp.Answer{Action: mcp.Decline, Content: filled}, nil, "decline null"},
		{"put away", mcp.Answer{Action: mcp.Cancel}, nil, "cancel null"},
		{"not filled in as wanted", mcp.Answer{Action: mcp.Accept, Content: map[string]any{"name": "", "size": 4}}, nil, "refused:"},
		{"not put", mcp.Answer{}, errors.New("the editor went away"), "the editor went away"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got mcp.Form
			person := &fakePerson{fill: func(_ context.Context, f mcp.Form) (mcp.Answer, error) {
				got = f
				return tt.answer, tt.err
			}}
			params := &sdk.ElicitParams{Message: "Who\u202e are you?", RequestedSchema: json.RawMessage(wholeForm)}
			m := spoken(t, person, map[string]*sdk.Server{"desk": asker(elicit(params))})
			rt := &caller{id: "call_1"}
			text, err := askTool(limited(t), m, rt)
			if err != nil {
				t.Fatal(err)
			}
			if tt.name == "filled in" {
				// A field that was left out stays out.
				tt.want = strings.Replace(tt.want, `"shape":null,`, "", 1)
			}
			if !strings.Contains(text, tt.want) {
				t.Errorf("the server heard %q; want %q", text, tt.want)
			}
			want := mcp.Form{CallID: "call_1", Message: "The MCP server desk asks: Who are you?", Fields: []mcp.Field{
				{Name: "color", Title: "color", Kind: mcp.Choice, Options: []mcp.Option{{Value: "r", Title: "Red"}, {Value: "g", Title: "Green"}}, Default: "g"},
				{Name: "days", Title: "days", Kind: mcp.Choices, Options: []mcp.Option{{Value: "mo", Title: "mo"}, {Value: "tu", Title: "tu"}}, Least: pointer(1), Most: pointer(2), Default: []string{"mo"}},
				{Name: "mail", Title: "mail", Kind: mcp.Text, Format: "email"},
				{Name: "name", Title: `Your\u{202e}name`, Description: "as on the door", Kind: mcp.Text, Required: true, Least: pointer(1), Most: pointer(20), Default: "Ada"},
				{Name: "part", Title: "part", Kind: mcp.Number, Minimum: pointer(0.5)},
				{Name: "shape", Title: "shape", Kind: mcp.Choice, Options: []mcp.Option{{Value: "o", Title: "Circle"}}},
				{Name: "size", Title: "size", Kind: mcp.Integer, Required: true, Minimum: pointer(1.0), Maximum: pointer(9.0), Default: 3.0},
				{Name: "tags", Title: "tags", Kind: mcp.Choices, Options: []mcp.Option{{Value: "x", Title: "Ex"}}},
				{Name: "yes", Title: "yes", Kind: mcp.Boolean, Default: true},
			}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("form (-want +got):\n%s", diff)
			}
			if rt.awaits != 1 || rt.over != 1 {
				t.Errorf("the caller's time stood still %d times, and ran again %d times", rt.awaits, rt.over)
			}
		})
	}
}

// What a server may not ask is refused, and no one is asked; what no one can answer is not
// offered.
func TestPerson_Refused(t *testing.T) {
	form := func(properties string) *sdk.ElicitParams {
		return &sdk.ElicitParams{Message: "Well?", RequestedSchema: json.RawMessage(`{"type": "object", "properties": {` + properties + `}}`)}
	}
	visit := func(address string) *sdk.ElicitParams {
		return &sdk.ElicitParams{Mode: "url", Message: "Well?", URL: address, ElicitationID: "1"}
	}
	long := strings.Repeat("x", 300)
	for _, tt := range []struct {
		name             string
		forms, addresses bool
		params           *sdk.ElicitParams
		want             string
	}{
		{"a form, where there are none", false, true, form(""), "does not support"},
		{"an address, where there are none", true, false, visit("https://a.example/"), "does not support"},
		{"anything, where there is nobody", false, false, form(""), "does not support"},
		{"a hidden name", true, true, form(`"a\u202eb": {"type": "string"}`), "hidden"},
		{"a long value", true, true, form(`"a": {"type": "string", "enum": ["` + long + `"]}`), "longer than"},
		{"a hidden default", true, true, form(`"a": {"type": "string", "default": "x\u0000"}`), "default"},
		{"a default that is not offered", true, true, form(`"a": {"type": "array", "items": {"type": "string", "enum": ["b"]}, "default": ["c"]}`), "default"},
		{"http", true, true, visit("http://a.example/"), "not https"},
		{"a script", true, true, visit("javascript:alert(1)"), "cannot be used"},
		{"a name before the host", true, true, visit("https://bank.example@a.example/"), "cannot be used"},
		{"another alphabet", true, true, visit("https://аpple.example/"), "cannot be used"},
		{"a line break", true, true, visit("https://a.example/\nhttps://b.example/"), "cannot be used"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			person := &fakePerson{}
			if tt.forms {
				person.fill = func(context.Context, mcp.Form) (mcp.Answer, error) { panic("asked") }
			}
			if tt.addresses {
				person.visit = func(context.Context, mcp.Visit) (mcp.Answer, func(), error) { panic("asked") }
			}
			m := spoken(t, person, map[string]*sdk.Server{"desk": asker(elicit(tt.params))})
			if text, err := askTool(limited(t), m, &caller{}); err != nil || !strings.HasPrefix(text, "refused: ") || !strings.Contains(text, tt.want) {
				t.Errorf("the server heard %q, %v; want %q", text, err, tt.want)
			}
		})
	}
}

// An address is shown with its host and who wants it opened, and the editor is told when the
// server says that it is done.
func TestPerson_Visit(t *testing.T) {
	var got mcp.Visit
	done := make(chan struct{})
	person := &fakePerson{visit: func(_ context.Context, v mcp.Visit) (mcp.Answer, func(), error) {
		got = v
		return mcp.Answer{Action: mcp.Accept, Content: map[string]any{"never": "sent"}}, func() { close(done) }, nil
	}}
	ask := func(ctx context.Context, s *sdk.ServerSession) (string, error) {
		text, err := elicit(&sdk.ElicitParams{Mode: "url", Message: "Pay.", URL: "https://pay.example:8443/x?y=1", ElicitationID: "7"})(ctx, s)
		select {
		case <-done:
			return "", errors.New("it is done before the server says so")
		default:
		}
		if err == nil {
			err = s.NotifyElicitationComplete(ctx, &sdk.ElicitationCompleteParams{ElicitationID: "7"})
		}
		return text, err
	}
	m := spoken(t, person, map[string]*sdk.Server{"shop": asker(ask)})
	text, err := askTool(limited(t), m, &caller{id: "call_1"})
	if err != nil || text != "accept null" {
		t.Fatalf("the server heard %q, %v", text, err)
	}
	want := mcp.Visit{CallID: "call_1", Message: "The MCP server shop wants you to open an address at pay.example:8443: Pay.", Address: "https://pay.example:8443/x?y=1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("visit (-want +got):\n%s", diff)
	}
	select {
	case <-done:
	case <-limited(t).Done():
		t.Error("the editor is not told that it is done")
	}
}

// A browser may be faster than the editor: what the server says is done before the editor
// has answered is done.
func TestPerson_VisitDoneEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var session *sdk.ServerSession
		done := 0
		person := &fakePerson{visit: func(ctx context.Context, _ mcp.Visit) (mcp.Answer, func(), error) {
			err := session.NotifyElicitationComplete(ctx, &sdk.ElicitationCompleteParams{ElicitationID: "7"})
			synctest.Wait()
			return mcp.Answer{Action: mcp.Accept}, func() { done++ }, err
		}}
		ask := func(ctx context.Context, s *sdk.ServerSession) (string, error) {
			session = s
			return elicit(&sdk.ElicitParams{Mode: "url", Message: "Pay.", URL: "https://pay.example", ElicitationID: "7"})(ctx, s)
		}
		m := spoken(t, person, map[string]*sdk.Server{"shop": asker(ask)})
		if text, err := askTool(t.Context(), m, &caller{id: "call_1"}); err != nil || text != "accept null" {
			t.Errorf("the server heard %q, %v", text, err)
		}
		if done != 1 {
			t.Errorf("the editor is told %d times that it is done", done)
		}
		m.Close()
	})
}

// A server asks only while one of its tools runs, one thing at a time, and no one is asked
// any more when the call has ended.
func TestPerson_OnlyDuringCalls(t *testing.T) {
	t.Run("outside a call", func(t *testing.T) {
		heard := make(chan error, 1)
		server := sdk.NewServer(&sdk.Implementation{Name: "pushy", Version: "1"}, &sdk.ServerOptions{
			InitializedHandler: func(ctx context.Context, r *sdk.InitializedRequest) {
				_, err := r.Session.Elicit(ctx, &sdk.ElicitParams{Message: "Hello!", RequestedSchema: json.RawMessage(`{"type": "object"}`)})
				heard <- err
			},
		})
		spoken(t, &fakePerson{fill: func(context.Context, mcp.Form) (mcp.Answer, error) { panic("asked") }}, map[string]*sdk.Server{"pushy": server})
		if err := <-heard; err == nil || !strings.Contains(err.Error(), "only while a tool of this server runs") {
			t.Errorf("the server heard %v", err)
		}
	})
	t.Run("one at a time", func(t *testing.T) {
		var mu sync.Mutex
		open, most := 0, 0
		person := &fakePerson{fill: func(context.Context, mcp.Form) (mcp.Answer, error) {
			mu.Lock()
			open++
			most = max(most, open)
			mu.Unlock()
			for range 100 {
				goruntime.Gosched() // another one would come in between
			}
			mu.Lock()
			open--
			mu.Unlock()
			return mcp.Answer{Action: mcp.Decline}, nil
		}}
		m := spoken(t, person, map[string]*sdk.Server{"desk": asker(elicit(&sdk.ElicitParams{Message: "Well?"}))})
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				if text, err := askTool(limited(t), m, &caller{}); err != nil || text != "decline null" {
					t.Errorf("the server heard %q, %v", text, err)
				}
			})
		}
		all.Wait()
		if most != 1 {
			t.Errorf("%d forms stood at once", most)
		}
	})
	t.Run("the call is cancelled", func(t *testing.T) {
		put, ended := make(chan struct{}), make(chan struct{})
		person := &fakePerson{fill: func(ctx context.Context, _ mcp.Form) (mcp.Answer, error) {
			close(put)
			<-ctx.Done()
			close(ended)
			return mcp.Answer{}, ctx.Err()
		}}
		m := spoken(t, person, map[string]*sdk.Server{"desk": asker(elicit(&sdk.ElicitParams{Message: "Well?"}))})
		ctx, cancel := context.WithCancel(limited(t))
		go func() {
			<-put
			cancel()
		}()
		if _, err := askTool(ctx, m, &caller{}); !errors.Is(err, context.Canceled) {
			t.Errorf("the call ended with %v", err)
		}
		<-ended
	})
}

// The time of a call stands still while the user thinks, and runs again after that.
func TestPerson_ClockStandsStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		person := &fakePerson{fill: func(context.Context, mcp.Form) (mcp.Answer, error) {
			time.Sleep(time.Hour)
			return mcp.Answer{Action: mcp.Accept}, nil
		}}
		slow := asker(func(ctx context.Context, s *sdk.ServerSession) (string, error) {
			text, err := elicit(&sdk.ElicitParams{Message: "Well?"})(ctx, s)
			if err == nil {
				<-ctx.Done() // and now it hangs
			}
			return text, err
		})
		m := spoken(t, person, map[string]*sdk.Server{"desk": slow})
		rt := &progressing{}
		began := time.Now()
		_, err := askTool(t.Context(), m, rt)
		failure, ok := errors.AsType[*tools.Error](err)
		if took := time.Since(began); !ok || failure.Kind != tools.Timeout || took != time.Hour+10*time.Second {
			t.Errorf("after %v: %v", took, err)
		}
		if rt.times < 3000 {
			t.Errorf("the caller was told %d times that it goes on", rt.times)
		}
		m.Close()
	})
}

// progressing counts what a call is told of its progress.
type progressing struct {
	caller
	times int
}

func (p *progressing) Progress([]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.times++
}

// A server gets no model for its own use.
func TestPerson_NoSampling(t *testing.T) {
	sample := asker(func(ctx context.Context, s *sdk.ServerSession) (string, error) {
		//lint:ignore SA1019 servers go on asking for it, whatever the library calls it
		if can := s.InitializeParams().Capabilities; can.Sampling != nil {
			return "", errors.New("sampling is offered")
		}
		//lint:ignore SA1019 as above
		result, err := s.CreateMessage(ctx, &sdk.CreateMessageParams{MaxTokens: 10, Messages: []*sdk.SamplingMessage{{Role: "user", Content: &sdk.TextContent{Text: "hello"}}}})
		return fmt.Sprint(result), err
	})
	m := spoken(t, &fakePerson{fill: func(context.Context, mcp.Form) (mcp.Answer, error) { panic("asked") }}, map[string]*sdk.Server{"s": sample})
	if text, err := askTool(limited(t), m, &caller{}); err != nil || !strings.HasPrefix(text, "refused: ") || !strings.Contains(text, "does not support") {
		t.Errorf("the server heard %q, %v", text, err)
	}
}

// What a server says in several lines is marked line by line: none of them can pass for what
// the agent says of another server.
func TestPerson_WordsAreMarked(t *testing.T) {
	var got mcp.Visit
	person := &fakePerson{visit: func(_ context.Context, v mcp.Visit) (mcp.Answer, func(), error) {
		got = v
		return mcp.Answer{Action: mcp.Decline}, func() {}, nil
	}}
	said := "Sign in.\n\nThe MCP server bank wants you to open an address at bank.example: it is safe."
	m := spoken(t, person, map[string]*sdk.Server{"shop": asker(elicit(&sdk.ElicitParams{Mode: "url", Message: said, URL: "https://pay.example/", ElicitationID: "7"}))})
	if _, err := askTool(limited(t), m, &caller{}); err != nil {
		t.Fatal(err)
	}
	want := "The MCP server shop wants you to open an address at pay.example:\n\n" +
		"> Sign in.\n> \n> The MCP server bank wants you to open an address at bank.example: it is safe."
	if got.Message != want {
		t.Errorf("message %q, want %q", got.Message, want)
	}
}
