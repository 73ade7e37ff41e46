package provider_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"acp-agent/tools"
	"acp-agent/tools/provider"
	"acp-agent/tools/tooltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// asked is a request as a provider sees it.
type asked struct {
	ID     *int64          `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Error  json.RawMessage `json:"error"`
}

// program plays the program of a provider: answer gives the lines for each line.
type program struct {
	answer func(a asked) []string
	// closed is closed once the program has ended; starts counts how often it began.
	starts atomic.Int32
	mu     sync.Mutex
	seen   []asked
	send   func(line string)
	end    func()
	alive  sync.WaitGroup
}

// usual answers as a sound provider with these tools does.
func usual(list string, execute func(params string) string) func(asked) []string {
	return func(a asked) []string {
		switch a.Method {
		case "initialize":
			return answered(a, `{"protocolVersion":"1.0"}`)
		case "tools/list":
			return answered(a, `{"tools":`+list+`}`)
		case "tools/execute":
			return answered(a, execute(string(a.Params)))
		}
		return nil
	}
}

func answered(a asked, result string) []string {
	return []string{fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%s}`, *a.ID, result)}
}

// start is for Options.Start.
func (p *program) start(context.Context, provider.Config, io.Writer) (io.ReadWriteCloser, error) {
	p.starts.Add(1)
	ours, theirs := net.Pipe()
	var writing sync.Mutex
	send := func(line string) {
		writing.Lock()
		defer writing.Unlock()
		_, _ = io.WriteString(theirs, line+"\n")
	}
	p.mu.Lock()
	p.send, p.end = send, func() { theirs.Close() }
	p.mu.Unlock()
	ended := make(chan struct{})
	p.alive.Go(func() {
		defer close(ended)
		defer theirs.Close()
		in := bufio.NewScanner(theirs)
		for in.Scan() {
			var a asked
			if json.Unmarshal(in.Bytes(), &a) != nil {
				continue
			}
			p.mu.Lock()
			p.seen = append(p.seen, a)
			p.mu.Unlock()
			for _, line := range p.answer(a) {
				if line == "end" {
					return
				}
				send(line)
			}
		}
	})
	return closer{ours, ended}, nil
}

// closer waits, as that of a program does, until nothing is left of it.
type closer struct {
	net.Conn
	ended chan struct{}
}

func (c closer) Close() error {
	defer func() { <-c.ended }()
	return c.Conn.Close()
}

// methods are the requests that the program has seen.
func (p *program) methods() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []string
	for _, a := range p.seen {
		list = append(list, a.Method+" "+string(a.Params))
	}
	return list
}

const echoTool = `[{"name":"echo","description":"Says it again.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}}]`

func settled(t *testing.T, s *provider.Service) {
	t.Helper()
	s.Begin()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s.Settle(ctx, time.Time{})
}

func toolIDs(s *provider.Service) []string {
	list, _ := s.Tools()
	var ids []string
	for _, tool := range list {
		ids = append(ids, tool.ID)
	}
	return ids
}

func run(t *testing.T, s *provider.Service, id, args string) (*tools.Result, error) {
	t.Helper()
	list, _ := s.Tools()
	for _, tool := range list {
		if tool.ID == id {
			return tool.Run(t.Context(), tooltest.New(tooltest.Options{}), tools.NewArgs(args))
		}
	}
	t.Fatalf("there is no tool %s", id)
	return nil, nil
}

func TestService_Stdio(t *testing.T) {
	p := &program{answer: usual(echoTool, func(params string) string { return `{"result":` + params + `}` })}
	s := provider.New([]provider.Config{{Name: "Unit Tools", Type: "stdio", Command: "x"}}, provider.Options{Start: p.start, Version: "7"})
	if list, generation := s.Tools(); len(list) > 0 || generation != 0 || p.starts.Load() > 0 {
		t.Error("something was started before Begin")
	}
	settled(t, s)
	if diff := cmp.Diff([]string{"tb__unit_tools__echo"}, toolIDs(s)); diff != "" {
		t.Fatalf("problems %v, tools (-want +got)\n%s", s.Problems(), diff)
	}
	list, _ := s.Tools()
	if got := list[0].Source; got != (tools.Source{Kind: tools.Provider, Server: "Unit Tools", Name: "echo"}) {
		t.Errorf("source %+v", got)
	}
	result, err := run(t, s, "tb__unit_tools__echo", `{"text":"a"}`)
	if err != nil || result.ModelText() != `{"arguments":{"text":"a"},"name":"echo"}` {
		t.Errorf("got %+v, %v", result, err)
	}
	want := []string{
		`initialize {"clientInfo":{"name":"acp-agent","version":"7"},"protocolVersion":"1.0"}`,
		`tools/list {}`,
		`tools/execute {"arguments":{"text":"a"},"name":"echo"}`,
	}
	if diff := cmp.Diff(want, p.methods()); diff != "" {
		t.Errorf("requests (-want +got)\n%s", diff)
	}
	tool := list[0]
	s.Close()
	p.alive.Wait() // Close has waited for it, or this hangs
	if _, err := tool.Run(t.Context(), tooltest.New(tooltest.Options{}), tools.NewArgs(`{}`)); err == nil || err.Error() != "Tool provider Unit Tools not found" {
		t.Errorf("after Close: %v", err)
	}
}

func TestService_HTTP(t *testing.T) {
	var list atomic.Value
	list.Store(echoTool)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var a asked
		if err := json.NewDecoder(r.Body).Decode(&a); err != nil || r.Method != http.MethodPost || r.Header.Get("X-Key") != "k" || a.ID == nil {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		reply := usual(list.Load().(string), func(params string) string {
			if strings.Contains(params, "broken") {
				return `null,"error":{"code":-1,"message":"it is broken"}`
			}
			return `"said"`
		})(a)
		fmt.Fprint(w, reply[0])
	}))
	defer server.Close()
	s := provider.New([]provider.Config{
		{Name: "web", Type: "http", URL: server.URL, Headers: map[string]string{"X-Key": "k"}},
		{Name: "locked", Type: "http", URL: server.URL},
	}, provider.Options{})
	defer s.Close()
	settled(t, s)
	if diff := cmp.Diff([]string{"tb__web__echo"}, toolIDs(s)); diff != "" {
		t.Fatalf("tools (-want +got)\n%s", diff)
	}
	if got := fmt.Sprint(s.Problems()); got != `[tool provider "locked": it answered with HTTP status 403]` {
		t.Errorf("problems %s", got)
	}
	if result, err := run(t, s, "tb__web__echo", `{}`); err != nil || result.ModelText() != "said" {
		t.Errorf("got %+v, %v", result, err)
	}
	var failure *tools.Error
	if _, err := run(t, s, "tb__web__echo", `{"text":"broken"}`); !errors.As(err, &failure) || failure.Kind != tools.Backend || failure.Message != "it is broken" {
		t.Errorf("got %v", err)
	}
	_, before := s.Tools()
	list.Store(`[]`)
	settled(t, s) // asks again
	if _, now := s.Tools(); now == before || len(toolIDs(s)) > 0 {
		t.Errorf("tools %v, generation %d after %d", toolIDs(s), now, before)
	}
}

// One that cannot be used says why, and the others go on.
func TestService_Broken(t *testing.T) {
	good := &program{answer: usual(echoTool, func(string) string { return `1` })}
	dead := &program{answer: func(asked) []string { return []string{"end"} }}
	odd := &program{answer: func(a asked) []string { return answered(a, `{"tools":7}`) }}
	refusing := &program{answer: func(a asked) []string {
		return []string{fmt.Sprintf(`{"jsonrpc":"2.0","id":"%d","error":{"code":1,"message":"not\u0007 today"}}`, *a.ID)}
	}}
	large := &program{answer: func(asked) []string { return []string{strings.Repeat("x", 17<<20)} }}
	noisy := &program{answer: func(a asked) []string {
		lines := []string{"starting up", "{", "[1]", `{"jsonrpc":"2.0","id":99,"result":1}`, `{"jsonrpc":"2.0","id":"x","method":"ask/me"}`}
		return append(lines, usual(echoTool, nil)(a)...)
	}}
	programs := map[string]*program{"good": good, "dead": dead, "odd": odd, "refusing": refusing, "large": large, "noisy": noisy}
	s := provider.New([]provider.Config{
		{Name: "strange", Type: "carrier-pigeon"},
		{Name: "empty", Type: "stdio"},
		{Name: "nowhere", Type: "http", URL: "file:///x"},
		{Name: "dead", Type: "stdio", Command: "x"},
		{Name: "odd", Type: "stdio", Command: "x"},
		{Name: "refusing", Type: "stdio", Command: "x"},
		{Name: "large", Type: "stdio", Command: "x"},
		{Name: "missing", Type: "stdio", Command: "x"},
		{Name: "noisy", Type: "stdio", Command: "x"},
		{Name: "good", Type: "stdio", Command: "x"},
	}, provider.Options{Start: func(ctx context.Context, c provider.Config, stderr io.Writer) (io.ReadWriteCloser, error) {
		if p := programs[c.Name]; p != nil {
			return p.start(ctx, c, stderr)
		}
		return nil, errors.New("no such program")
	}})
	defer s.Close()
	settled(t, s)
	if diff := cmp.Diff([]string{"tb__noisy__echo", "tb__good__echo"}, toolIDs(s)); diff != "" {
		t.Errorf("tools (-want +got)\n%s", diff)
	}
	want := []string{
		`tool provider "strange": Unknown tool provider type: carrier-pigeon`,
		`tool provider "empty": it has no command`,
		`tool provider "nowhere": its url is no http or https address`,
		`tool provider "dead": its program has ended`,
		`tool provider "odd": it answered tools/list without a list of tools`,
		`tool provider "refusing": not\u{7} today`,
		`tool provider "large": it sent a message of more than 16 MiB`,
		`tool provider "missing": no such program`,
	}
	var got []string
	for _, err := range s.Problems() {
		got = append(got, err.Error())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got)\n%s", diff)
	}
}

// What a provider says of its tools is held to the rules of every tool.
func TestService_Tools(t *testing.T) {
	list := `[
		{"name":"getIssue","description":"Gets\u0007 one.","parameters":{"properties":{"n":{"type":"integer"}}},"kind":"fetch"},
		{"name":"get-issue","description":"Another one."},
		{"name":"get-issue","description":"The same again."},
		{"name":"read","description":"Not ours."},
		{"name":"` + strings.Repeat("long", 30) + `","description":"Long."},
		{"name":"silent"},
		{"name":"","description":"None."},
		{"name":"broken","description":"x","inputSchema":{"properties":{"a":{"pattern":"("}}}},
		{"name":"list","description":"x","inputSchema":{"type":"array"}},
		{"name":7}
	]`
	p := &program{answer: usual(strings.ReplaceAll(list, "\n", " "), nil)} // one line a message
	s := provider.New([]provider.Config{{Name: "x", Type: "stdio", Command: "x"}}, provider.Options{Start: p.start})
	defer s.Close()
	settled(t, s)
	got, _ := s.Tools()
	var ids []string
	for _, tool := range got {
		ids = append(ids, tool.ID)
		if _, err := tools.NewRegistry(tool); err != nil || len(tool.ID) > 64 {
			t.Errorf("%s: %v", tool.ID, err)
		}
	}
	want := []string{"tb__x__get_issue", "tb__x__get_issue_", "tb__x__read", "tb__x__longlong"}
	if len(ids) != len(want) {
		t.Fatalf("tools %v", ids)
	}
	for i, id := range ids {
		if !strings.HasPrefix(id, want[i]) {
			t.Errorf("tool %s, want %s…", id, want[i])
		}
	}
	if got[0].Description != "Gets one." || got[0].Kind != "fetch" || got[1].Kind != "other" {
		t.Errorf("tools %+v", got[:2])
	}
	if n := len(s.Problems()); n != 6 {
		t.Errorf("%d problems: %v", n, s.Problems())
	}
}

// The list of a running provider changes when it says so.
func TestService_ListChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var list atomic.Value
		list.Store(echoTool)
		p := &program{}
		p.answer = func(a asked) []string { return usual(list.Load().(string), nil)(a) }
		s := provider.New([]provider.Config{{Name: "x", Type: "stdio", Command: "x"}}, provider.Options{Start: p.start})
		settled(t, s)
		_, before := s.Tools()
		p.send(`{"jsonrpc":"2.0","method":"tools/changed"}`)
		time.Sleep(time.Second)
		if _, same := s.Tools(); same != before {
			t.Error("the same list is a change")
		}
		list.Store(strings.ReplaceAll(echoTool, "echo", "shout"))
		p.send(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		time.Sleep(time.Second)
		if _, now := s.Tools(); now == before {
			t.Error("another list is no change")
		}
		if diff := cmp.Diff([]string{"tb__x__shout"}, toolIDs(s)); diff != "" {
			t.Errorf("tools (-want +got)\n%s", diff)
		}
		s.Close()
	})
}

// A program may say that its tools changed before it was answered what they were, and as
// often as it likes: it is asked once more, and none of it is lost.
func TestService_ListChangesMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const changed = `{"jsonrpc":"2.0","method":"tools/changed"}`
		lists, gate := 0, make(chan struct{})
		p := &program{}
		p.answer = func(a asked) []string {
			if a.Method != "tools/list" {
				return usual(echoTool, nil)(a)
			}
			if lists++; lists == 1 {
				return append([]string{changed}, usual(echoTool, nil)(a)...)
			}
			<-gate
			return usual(strings.ReplaceAll(echoTool, "echo", fmt.Sprint("shout", lists)), nil)(a)
		}
		s := provider.New([]provider.Config{{Name: "x", Type: "stdio", Command: "x"}}, provider.Options{Start: p.start})
		settling, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		s.Begin()
		s.Settle(settling, time.Time{})
		for range 100 {
			p.send(changed)
		}
		close(gate)
		time.Sleep(time.Second)
		if diff := cmp.Diff([]string{"tb__x__shout3"}, toolIDs(s)); diff != "" {
			t.Errorf("tools (-want +got)\n%s", diff)
		}
		s.Close()
	})
}

// A program that ends while a call runs fails that call, and is started again for the
// next one: three times, unless a call succeeds between.
func TestService_Restarts(t *testing.T) {
	fails := true
	p := &program{}
	p.answer = func(a asked) []string {
		if a.Method == "tools/execute" && fails {
			return []string{"end"}
		}
		return usual(echoTool, func(string) string { return `"well"` })(a)
	}
	s := provider.New([]provider.Config{{Name: "x", Type: "stdio", Command: "x"}}, provider.Options{Start: p.start})
	defer s.Close()
	settled(t, s)
	for range 4 {
		var failure *tools.Error
		if _, err := run(t, s, "tb__x__echo", `{}`); !errors.As(err, &failure) || failure.Kind != tools.Unavailable || failure.Message != "tool provider x failed: its program has ended" {
			t.Fatalf("got %v", err)
		}
	}
	if n := p.starts.Load(); n != 4 {
		t.Errorf("started %d times", n)
	}
	if _, err := run(t, s, "tb__x__echo", `{}`); err == nil || !strings.Contains(err.Error(), "is unavailable: gave up restarting after 4 failures in a row") || p.starts.Load() != 4 {
		t.Errorf("got %v after %d starts", err, p.starts.Load())
	}

	fails = false
	q := &program{answer: p.answer}
	again := provider.New([]provider.Config{{Name: "x", Type: "stdio", Command: "x"}}, provider.Options{Start: q.start})
	defer again.Close()
	settled(t, again)
	for range 6 {
		q.end()
		q.alive.Wait()
		for {
			result, err := run(t, again, "tb__x__echo", `{}`)
			if err == nil && result.ModelText() == "well" {
				break
			}
			if err == nil || strings.Contains(err.Error(), "gave up restarting") {
				t.Fatalf("got %+v, %v", result, err)
			}
		}
	}
}

// Of a program that is not started any more, the last failure is told, always in the same
// words.
func TestService_GivenUp(t *testing.T) {
	p := &program{answer: usual(echoTool, nil)}
	s := provider.New([]provider.Config{{Name: "x", Type: "stdio", Command: "x"}}, provider.Options{
		Start: func(ctx context.Context, c provider.Config, stderr io.Writer) (io.ReadWriteCloser, error) {
			if p.starts.Load() > 0 {
				return nil, errors.New("it is not there any more")
			}
			return p.start(ctx, c, stderr)
		},
	})
	defer s.Close()
	settled(t, s)
	p.end()
	p.alive.Wait()
	var said []string
	for range 10 {
		_, err := run(t, s, "tb__x__echo", `{}`)
		said = append(said, fmt.Sprint(err))
	}
	const last = "tool provider x is unavailable: gave up restarting after 4 failures in a row: it is not there any more"
	if said[8] != last || said[9] != last {
		t.Errorf("got %q", said)
	}
	if got, want := fmt.Sprint(s.Problems()), `[tool provider "x": gave up restarting after 4 failures in a row: it is not there any more]`; got != want {
		t.Errorf("problems %s", got)
	}
}

// A program that hangs in initialize costs no one more than its start time, and one that
// hangs in a call can be left.
func TestService_Hangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &program{answer: func(asked) []string { return nil }}
		s := provider.New([]provider.Config{{Name: "x", Type: "stdio", Command: "x"}}, provider.Options{Start: p.start})
		start := time.Now()
		settled(t, s)
		if took := time.Since(start); took != 30*time.Second || !strings.Contains(fmt.Sprint(s.Problems()), "not there within 30s") {
			t.Errorf("problems %v after %s", s.Problems(), took)
		}
		s.Close()

		q := &program{}
		q.answer = func(a asked) []string {
			if a.Method == "tools/execute" {
				return nil
			}
			return usual(echoTool, nil)(a)
		}
		s = provider.New([]provider.Config{{Name: "x", Type: "stdio", Command: "x"}}, provider.Options{Start: q.start})
		settled(t, s)
		list, _ := s.Tools()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := list[0].Run(ctx, tooltest.New(tooltest.Options{}), tools.NewArgs(`{}`)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		s.Close()
	})
}

// R6: what providers answer, in all the shapes that are known.
func TestService_Results(t *testing.T) {
	tests := []struct{ name, answer, text, failure string }{
		{"the seed's", `{"result":{"count":3}}`, `{"count":3}`, ""},
		{"a text in it", `{"result":"x"}`, "x", ""},
		{"a value", `[1,2]`, "[1,2]", ""},
		{"nothing", `{"result":null}`, "null", ""},
		{"Amp", `{"result":{"status":"done","result":"x"}}`, "x", ""},
		{"a failure", `{"status":"error","error":{"message":"no such file"}}`, "", "no such file"},
		{"Amplifier", `{"success":false,"error":{"message":"bad"}}`, "", "bad"},
		{"malformed", `{"success":false,"error":"boom"}`, "", "not well-formed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := &program{answer: usual(echoTool, func(string) string { return tt.answer })}
			s := provider.New([]provider.Config{{Name: "x", Type: "stdio", Command: "x"}}, provider.Options{Start: p.start})
			defer s.Close()
			settled(t, s)
			result, err := run(t, s, "tb__x__echo", `{}`)
			switch {
			case tt.failure != "" && (err == nil || !strings.Contains(err.Error(), tt.failure)):
				t.Errorf("got %+v, %v; want %q", result, err, tt.failure)
			case tt.failure == "" && (err != nil || result.ModelText() != tt.text):
				t.Errorf("got %+v, %v; want %q", result, err, tt.text)
			}
		})
	}
}

// R104: the first 50,000 characters of what a provider answers are shown.
func TestService_Truncation(t *testing.T) {
	for _, size := range []int{50_000, 50_001} {
		p := &program{answer: usual(echoTool, func(string) string { return `"` + strings.Repeat("é", size) + `"` })}
		s := provider.New([]provider.Config{{Name: "x", Type: "stdio", Command: "x"}}, provider.Options{Start: p.start})
		settled(t, s)
		result, err := run(t, s, "tb__x__echo", `{}`)
		s.Close()
		if err != nil {
			t.Fatal(err)
		}
		text := result.ModelText()
		if cut := strings.Contains(text, "[Output truncated - exceeded 50KB limit]"); cut != (size > 50_000) || cut != result.Truncated || strings.Count(text, "é") != 50_000 {
			t.Errorf("%d characters: cut %v, truncated %v, %d shown", size, cut, result.Truncated, strings.Count(text, "é"))
		}
	}
}

// FuzzProvider holds that whatever a program prints, nothing hangs or panics, and its
// tools are sound.
func FuzzProvider(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{}}` + "\n" + `{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"a","description":"d"}]}}`,
		`{"id":1,"error":{}}`, `{"id":"1","result":null}`, "{", "\x00", `{"method":"tools/changed"}`, `{"id":1,"method":"x"}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, printed string) {
		p := &program{answer: func(asked) []string { return []string{printed, "end"} }}
		s := provider.New([]provider.Config{{Name: "x", Type: "stdio", Command: "x"}}, provider.Options{Start: p.start})
		settled(t, s)
		list, _ := s.Tools()
		for _, tool := range list {
			if _, err := tools.NewRegistry(tool); err != nil {
				t.Error(err)
			}
		}
		s.Close()
	})
}
