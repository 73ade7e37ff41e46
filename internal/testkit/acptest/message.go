package acptest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"
)

// Message is a JSON-RPC message, read without knowledge of the agent's types.
type Message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"-"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *Failure        `json:"error"`

	once    sync.Once
	decoded any // Params, once they were asked for
}

// Failure is the error of a response.
type Failure struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

// Parse reads one line.
func Parse(line []byte) (*Message, error) {
	if !utf8.Valid(line) {
		return nil, errors.New("not UTF-8")
	}
	var wire struct {
		Message
		Method json.RawMessage `json:"method"`
	}
	if err := json.Unmarshal(line, &wire); err != nil {
		return nil, err
	}
	m := &wire.Message
	// A method that is not a name is kept as it is: tests send such things.
	if json.Unmarshal(wire.Method, &m.Method) != nil || m.Method == "" {
		m.Method = string(wire.Method)
	}
	return m, nil
}

// IsRequest reports whether the message wants an answer.
func (m *Message) IsRequest() bool {
	return m.Method != "" && len(m.ID) > 0 && strings.ContainsRune(`"-0123456789`, rune(m.ID[0]))
}

// IsNotification reports whether the message is one.
func (m *Message) IsNotification() bool { return m.Method != "" && m.ID == nil }

// IsResponse reports whether the message answers a request.
func (m *Message) IsResponse() bool { return m.Method == "" && (m.Result != nil || m.Error != nil) }

// Update is what a session/update carries: its sessionUpdate, and the members.
// The kind is empty for other messages.
func (m *Message) Update() (kind string, members map[string]any) {
	if m.Method != methodUpdate {
		return "", nil
	}
	members, _ = at(m.params(), "update").(map[string]any)
	kind, _ = members["sessionUpdate"].(string)
	return kind, members
}

// Session is the id of the session that the message is about, "" for none.
func (m *Message) Session() string {
	id, _ := at(m.params(), "sessionId").(string)
	return id
}

// Get returns a member by its path, such as "update.kind" or
// "result.configOptions.0.id"; nil when it is absent.
func (m *Message) Get(path string) any {
	root := map[string]any{"params": m.params()}
	if m.Result != nil {
		root["result"] = decode(m.Result)
	}
	if m.Error != nil {
		root["error"] = map[string]any{"code": float64(m.Error.Code), "message": m.Error.Message, "data": decode(m.Error.Data)}
	}
	for _, name := range []string{"params", "result", "error"} {
		if path == name || strings.HasPrefix(path, name+".") {
			return at(root, path)
		}
	}
	return at(root["params"], path)
}

func (m *Message) params() any {
	m.once.Do(func() { m.decoded = decode(m.Params) })
	return m.decoded
}

func decode(raw json.RawMessage) any {
	var v any
	if len(raw) == 0 || json.Unmarshal(raw, &v) != nil {
		return nil
	}
	return v
}

// at walks a decoded JSON value.
func at(v any, path string) any {
	for path != "" {
		var name string
		name, path, _ = strings.Cut(path, ".")
		switch node := v.(type) {
		case map[string]any:
			v = node[name]
		case []any:
			var i int
			if _, err := fmt.Sscanf(name, "%d", &i); err != nil || i < 0 || i >= len(node) {
				return nil
			}
			v = node[i]
		default:
			return nil
		}
	}
	return v
}

// The methods that the package itself must know.
const (
	methodInitialize  = "initialize"
	methodNew         = "session/new"
	methodPrompt      = "session/prompt"
	methodCancel      = "session/cancel"
	methodClose       = "session/close"
	methodUpdate      = "session/update"
	methodPermission  = "session/request_permission"
	methodReadFile    = "fs/read_text_file"
	methodWriteFile   = "fs/write_text_file"
	methodTerminal    = "terminal/"
	methodCancelCall  = "$/cancel_request"
	methodSteer       = "_session/steering"
	methodElicitation = "elicitation/"
)

// textOf is a JSON value as one would write it.
func textOf(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return string(encode(v))
}

// encode makes JSON with sorted keys and without the escapes meant for HTML.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Appendf(nil, "%q", err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
