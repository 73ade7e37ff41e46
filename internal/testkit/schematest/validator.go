package schematest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"acp-agent/internal/testkit/testreq"
)

// Direction is the way a message goes.
type Direction int

// The directions.
const (
	ToClient Direction = iota
	ToAgent
)

func (d Direction) String() string {
	if d == ToAgent {
		return "to the agent"
	}
	return "to the client"
}

// Validator judges the messages of one connection. It may be used from several
// goroutines, but a request has to be seen before its answer.
type Validator struct {
	methods map[string]method
	drafted map[string]method // those of the unstable schema
	draft   *definitions      // the unstable schema; empty where that is missing

	mu      sync.Mutex
	defs    *definitions    // of the stable schema, until the client asks for drafts
	pending map[call]string // methods of the requests that were not answered yet
}

// call names a request: ids of the two sides may be the same.
type call struct {
	direction Direction
	id        string
}

// Open reads the schema. Where there is none it skips the test, or fails it if the
// environment has ACP_REQUIRE_ALL=1.
func Open(tb testing.TB) *Validator {
	tb.Helper()
	v, err := load()
	if err == nil {
		return v
	}
	testreq.Skip(tb, err.Error())
	return nil
}

func load() (*Validator, error) {
	dir, err := Dir()
	if err != nil {
		return nil, err
	}
	defs, err := readDefinitions(dir)
	if err != nil {
		return nil, err
	}
	methods, err := methodsOf(defs.raw)
	if err != nil {
		return nil, err
	}
	drafted, err := methodsOf(defs.unstable)
	if err != nil {
		return nil, err
	}
	return &Validator{
		defs: defs, methods: methods, drafted: drafted, pending: map[call]string{},
		draft: newDefinitions(defs.unstable, defs.unstable),
	}, nil
}

// Definition judges a JSON value by the definition of that name.
func (v *Validator) Definition(name string, raw []byte) error { return v.judge().validate(name, raw) }

// AllowDrafts makes the unstable schema the judge. An initialize that announces a draft
// does so by itself: what a client asked for may be sent to it.
func (v *Validator) AllowDrafts() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.defs = v.draft
}

func (v *Validator) judge() *definitions {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.defs
}

// announcesDraft reports whether the parameters of initialize ask for a part of the
// protocol that is a draft.
func announcesDraft(params json.RawMessage) bool {
	var initialize struct {
		ClientCapabilities struct {
			Subagents map[string]any `json:"subagents"`
		} `json:"clientCapabilities"`
	}
	return json.Unmarshal(params, &initialize) == nil && initialize.ClientCapabilities.Subagents != nil
}

// envelope is a JSON-RPC message.
type envelope struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  *string         `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
}

// Observe notes the request that a line holds, so that its answer can be judged. It
// judges nothing itself: what a test sends may be wrong on purpose.
func (v *Validator) Observe(d Direction, line []byte) {
	var e envelope
	if json.Unmarshal(line, &e) == nil && e.Method != nil && e.ID != nil {
		v.note(d, &e)
	}
}

// note keeps the method of a request for its answer.
func (v *Validator) note(d Direction, e *envelope) {
	if d == ToAgent && *e.Method == "initialize" && announcesDraft(e.Params) {
		v.AllowDrafts()
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.pending[call{d, string(e.ID)}] = *e.Method
}

// Message judges a line that went in direction d: a request, a notification, or the
// answer to a request that Message or Observe has seen going the other way.
func (v *Validator) Message(d Direction, line []byte) error {
	line = bytes.TrimSuffix(line, []byte("\n"))
	if err := v.message(d, line); err != nil {
		return fmt.Errorf("message %s: %w: %s", d, err, shorten(line))
	}
	return nil
}

func (v *Validator) message(d Direction, line []byte) error {
	if bytes.ContainsAny(line, "\r\n") {
		return errors.New("more than one line")
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	var e envelope
	if err := dec.Decode(&e); err != nil {
		return err
	}
	switch {
	case dec.More():
		return errors.New("more than one value")
	case e.Version != "2.0":
		return errors.New("jsonrpc must be 2.0")
	case e.Method == nil:
		return v.response(d, &e)
	case e.Result != nil || e.Error != nil:
		return errors.New("both a request and a response")
	case e.ID != nil:
		return v.request(d, &e)
	default:
		return v.call(d, &e, true)
	}
}

func (v *Validator) request(d Direction, e *envelope) error {
	if err := v.judge().validate("RequestId", e.ID); err != nil {
		return err
	}
	v.note(d, e)
	return v.call(d, e, false)
}

// call judges a request or a notification by its method.
func (v *Validator) call(d Direction, e *envelope, notification bool) error {
	if strings.HasPrefix(*e.Method, "_") {
		return nil // an extension
	}
	m, judge, ok := v.find(d, *e.Method)
	if !ok {
		return fmt.Errorf("no method %q", *e.Method)
	}
	if m.notification != notification {
		return fmt.Errorf("%s: notification %t, want %t", *e.Method, notification, m.notification)
	}
	if m.side == "agent" && d == ToClient || m.side == "client" && d == ToAgent {
		return fmt.Errorf("%s is served by the %s", *e.Method, m.side)
	}
	return judge.validateObject(m.params, e.Params)
}

func (v *Validator) response(d Direction, e *envelope) error {
	if (e.Result == nil) == (e.Error == nil) {
		return errors.New("a response has either a result or an error")
	}
	if e.ID == nil {
		return errors.New("a response needs an id")
	}
	if e.Error != nil {
		if err := v.failure(e.Error); err != nil {
			return err
		}
		if string(e.ID) == "null" {
			return nil // about a line that could not be read
		}
	}
	asked := ToAgent
	if d == ToAgent {
		asked = ToClient
	}
	name, err := v.takeRequest(asked, e.ID)
	if err != nil || e.Error != nil {
		return err
	}
	m, judge, ok := v.find(asked, name)
	switch {
	case strings.HasPrefix(name, "_"):
		return nil
	case !ok:
		return fmt.Errorf("a result for %q, which is no method", name)
	}
	return judge.validateObject(m.result, e.Result)
}

// failure judges an error: besides the schema, its message must be one line.
func (v *Validator) failure(raw json.RawMessage) error {
	if err := v.judge().validateObject("Error", raw); err != nil {
		return err
	}
	var e struct{ Message string }
	if err := json.Unmarshal(raw, &e); err != nil {
		return err
	}
	if e.Message == "" || strings.ContainsAny(e.Message, "\r\n") {
		return fmt.Errorf("the error message %q is not one line", e.Message)
	}
	return nil
}

// takeRequest forgets a request that went in direction asked, and returns its method.
func (v *Validator) takeRequest(asked Direction, id json.RawMessage) (string, error) {
	key := call{asked, string(id)}
	v.mu.Lock()
	defer v.mu.Unlock()
	name, ok := v.pending[key]
	if !ok {
		return "", fmt.Errorf("no request with id %s was seen, or it was answered before", id)
	}
	delete(v.pending, key)
	return name, nil
}

func shorten(line []byte) string {
	const limit = 400
	if len(line) > limit {
		return string(line[:limit]) + "…"
	}
	return string(line)
}
