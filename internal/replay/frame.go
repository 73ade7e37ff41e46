package replay

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// class says which frames of a session may change places.
type class struct {
	kind string // text, tool, state, request, response or other
	of   string // the id of the call or request, or the kind of the text or state
}

// frame is one line that the agent sent.
type frame struct {
	entry   int // in the recording
	session string
	class
	value any
	// text is that of a chunk; message is whose.
	text    string
	message string
	// progress says that the frame shows how a call gets on. How many there are is a matter of
	// time.
	progress bool
	opens    bool // it opens a call
	aside    bool // it answers a request that no turn belongs to
	id       string
	method   string
	done     bool
	taken    int // bytes of text that have come
}

// line is what is read of a frame.
type line struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		SessionID string `json:"sessionId"`
		ToolCall  struct {
			ID string `json:"toolCallId"`
		} `json:"toolCall"`
		Update struct {
			Kind      string          `json:"sessionUpdate"`
			CallID    string          `json:"toolCallId"`
			MessageID string          `json:"messageId"`
			Status    json.RawMessage `json:"status"`
			Content   json.RawMessage `json:"content"`
		} `json:"update"`
	} `json:"params"`
}

// request is a request of the client.
type request struct{ session, method string }

// parse reads a frame. sessions has the session of each request of the client.
func parse(data []byte, sessions map[string]request) *frame {
	f := &frame{class: class{kind: "other"}}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if decoder.Decode(&f.value) != nil {
		f.value = string(data)
		return f
	}
	var l line
	if json.Unmarshal(data, &l) != nil {
		return f
	}
	f.session, f.id, f.method = l.Params.SessionID, string(l.ID), l.Method
	switch {
	case l.Method == "":
		f.class = class{"response", f.id}
		f.session = sessions[f.id].session
		f.aside = !slices.Contains([]string{"session/prompt", "session/load", "session/new"}, sessions[f.id].method)
	case l.Method != "session/update":
		f.class = class{"request", l.Params.ToolCall.ID}
	default:
		f.update(&l)
	}
	return f
}

func (f *frame) update(l *line) {
	u := l.Params.Update
	switch {
	case strings.HasSuffix(u.Kind, "_chunk"):
		var content struct{ Type, Text string }
		if json.Unmarshal(u.Content, &content) == nil && content.Type == "text" {
			f.class, f.text, f.message = class{"text", u.Kind}, content.Text, u.MessageID
		}
	case u.Kind == "tool_call":
		f.class, f.opens = class{"tool", u.CallID}, true
	case u.Kind == "tool_call_update":
		f.class, f.progress = class{"tool", u.CallID}, u.Status == nil
	case u.Kind == "plan":
	case strings.HasSuffix(u.Kind, "_update"):
		f.class = class{"state", u.Kind}
	}
}

// commute reports whether two frames of a session may come in either order: they belong to
// calls that run at the same time, or one of them is state that changes by itself.
func commute(a, b *frame) bool {
	switch {
	case a.aside || b.aside:
		return a.class != b.class
	case a.kind == "response" && b.kind == "response":
		return a.of != b.of
	case calls(a) && calls(b):
		return a.of != b.of
	case a.kind == "text" && b.kind == "tool":
		return !b.opens
	case b.kind == "text" && a.kind == "tool":
		return !a.opens
	}
	return false
}

func calls(f *frame) bool { return f.kind == "tool" || f.kind == "request" }
