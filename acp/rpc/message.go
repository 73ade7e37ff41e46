package rpc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// maxDepth is the deepest nesting that is served. Nothing in the protocol comes near
// it, and decoders behind us recurse.
const maxDepth = 512

// message is one line that is a JSON-RPC message.
type message struct {
	id     ID     // "" with a notification
	method string // "" with a response
	params json.RawMessage
	result json.RawMessage // nil with an error response
	err    *Error
}

func (m *message) isResponse() bool { return m.method == "" }

// header is the message without its body, as jsonrpc2 reads it: the method and the id. The
// raw text of a request's id travels as a string, which leaves it as it is. Without ok, the
// message is a response with an id that is not one of ours.
func (m *message) header() (header []byte, ok bool) {
	if m.isResponse() {
		n, ok := m.id.number()
		return fmt.Appendf(nil, `{"id":%d,"result":null}`, n), ok
	}
	header = appendQuoted([]byte(`{"method":`), m.method)
	if m.id != "" {
		header = appendQuoted(append(header, `,"id":`...), string(m.id))
	}
	return append(header, '}'), true
}

// refusal is the answer to a line that is not a message.
type refusal struct {
	id  ID
	err *Error
	// response says that the line looked like a response to a call of ours with this
	// id. That id is ours, so it is not echoed: the peer may have a request of its own
	// under the same id.
	response ID
}

func refuse(id ID, code int, text string) *refusal {
	return &refusal{id: id, err: &Error{Code: code, Message: text}}
}

// parseMessage reads one line. Exactly one of its results is not nil.
func parseMessage(line []byte) (*message, *refusal) {
	if !utf8.Valid(line) {
		return nil, refuse(nullID, CodeParseError, "the line is not valid UTF-8")
	}
	s := scan{text: line}
	if !s.parse() {
		return nil, refuse(nullID, CodeParseError, "the line is not valid JSON")
	}
	if first := bytes.TrimLeft(line, " \t\r")[0]; first == '[' {
		return nil, refuse(nullID, CodeInvalidRequest, "batches are not supported")
	} else if first != '{' {
		return nil, refuse(nullID, CodeInvalidRequest, "a message is a JSON object")
	}
	e, ok := readEnvelope(s.members)
	if !ok {
		return nil, e.refuse("a member of the message is there twice")
	}
	if s.deepest > maxDepth {
		return nil, e.refuse("the message is nested too deeply")
	}
	return e.message()
}

// envelope holds the raw members of a message; nil means absent.
type envelope struct {
	id, version, method, params, result, err []byte
}

func readEnvelope(members []member) (e envelope, unique bool) {
	unique = true
	for _, m := range members {
		field := e.field(m.name)
		if field == nil {
			continue // unknown members are tolerated
		}
		if *field != nil {
			unique = false
		}
		*field = m.value
	}
	return e, unique
}

func (e *envelope) field(name []byte) *[]byte {
	// A name with an escape in it is compared by its value, as any decoder would.
	if bytes.IndexByte(name, '\\') >= 0 {
		var s string
		if json.Unmarshal(name, &s) != nil {
			return nil
		}
		name = []byte(`"` + s + `"`)
	}
	switch string(name) {
	case `"id"`:
		return &e.id
	case `"jsonrpc"`:
		return &e.version
	case `"method"`:
		return &e.method
	case `"params"`:
		return &e.params
	case `"result"`:
		return &e.result
	case `"error"`:
		return &e.err
	}
	return nil
}

// looksLikeResponse is judged before the rest, since it decides whose the id is.
func (e *envelope) looksLikeResponse() bool {
	return e.method == nil && (e.result != nil || e.err != nil)
}

func (e *envelope) refuse(text string) *refusal {
	id, _ := parseID(e.id)
	r := refuse(id, CodeInvalidRequest, text)
	if e.looksLikeResponse() {
		r.id, r.response = nullID, id
	}
	return r
}

func (e *envelope) message() (*message, *refusal) {
	var version string
	if json.Unmarshal(orNull(e.version), &version) != nil || version != "2.0" {
		return nil, e.refuse(`the member "jsonrpc" must be "2.0"`)
	}
	if e.looksLikeResponse() {
		return e.response()
	}
	var method string
	if json.Unmarshal(orNull(e.method), &method) != nil || method == "" {
		return nil, e.refuse(`the member "method" must be a non-empty string`)
	}
	if e.result != nil || e.err != nil {
		return nil, e.refuse("a message is either a request or a response")
	}
	m := &message{method: method, params: e.params}
	if e.id == nil {
		return m, nil
	}
	id, ok := parseID(e.id)
	if !ok || id == nullID {
		// A null id belongs to answers about unreadable lines. As a request it could
		// not be told from these, and as a notification it would go unanswered although
		// its sender may be waiting; so it is refused aloud.
		return nil, e.refuse(`the member "id" must be a string or a number`)
	}
	m.id = id
	return m, nil
}

func (e *envelope) response() (*message, *refusal) {
	id, ok := parseID(e.id)
	if !ok {
		return nil, e.refuse("a response needs an id")
	}
	// An error that is null beside a result is common enough to be read as absent.
	if e.result != nil && e.err != nil && string(e.err) != "null" {
		return nil, e.refuse("a response has either a result or an error")
	}
	m := &message{id: id, result: e.result}
	if e.result == nil {
		m.err = parseError(e.err)
	}
	return m, nil
}

// parseError reads an error object; one that is malformed is an error nonetheless.
func parseError(raw []byte) *Error {
	var wire struct {
		Code    json.Number     `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	}
	code := int64(CodeInternalError)
	if json.Unmarshal(raw, &wire) != nil {
		wire.Message = "the peer answered with a malformed error"
	} else if n, err := wire.Code.Int64(); err == nil {
		code = n
	}
	e := &Error{Code: int(code), Message: wire.Message}
	if wire.Data != nil {
		e.Data = wire.Data
	}
	return e
}

func orNull(raw []byte) []byte {
	if raw == nil {
		return []byte("null")
	}
	return raw
}
