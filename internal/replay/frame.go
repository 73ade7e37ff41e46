package replay

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// class is what commute has to know of a frame.
type class struct {
	kind string // text, tool, state, request, response or other
	of   string // the id of the call or request that the frame is about, or the kind of the text or state
}

// frame is one line that the agent sent.
type frame struct {
	entry   int // in the recording
	session string
	id      string // of the request or response
	method  string
	class
	value any
	// text is the text of a chunk, and message the id of its message.
	text    string
	message string
	// progress says that the frame shows the progress of a call. The number of such frames depends
	// on the time.
	progress bool
	// moves says that the frame has the next state of a call, and shows that it has the content of its card,
	// which comes with it or, as progress, before or after it.
	moves, shows bool
	opens        bool // it is the first frame of a call
	// aside says that the frame has no place in the order of a turn: it answers a request that is
	// none of a turn, or a prompt that was answered during the turn of another one.
	aside      bool
	caller     string // the call whose subagent sent it; "" is the main agent
	inResponse bool   // it is a state that came in a response
	done       bool   // a live frame has matched it
	compared   int    // bytes of text that have come
}

// line has the members of a frame that are compared separately.
type line struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		SessionID string `json:"sessionId"`
		Prompt    []struct {
			Text string `json:"text"`
		} `json:"prompt"`
		ToolCall struct {
			ID string `json:"toolCallId"`
		} `json:"toolCall"`
		Update struct {
			Kind      string          `json:"sessionUpdate"`
			CallID    string          `json:"toolCallId"`
			MessageID string          `json:"messageId"`
			Status    json.RawMessage `json:"status"`
			Content   json.RawMessage `json:"content"`
			Meta      meta            `json:"_meta"`
		} `json:"update"`
	} `json:"params"`
}

// meta names the call whose subagent sent an update.
type meta struct {
	ClaudeCode struct {
		Parent string `json:"parentToolUseId"`
	} `json:"claudeCode"`
}

// request is a request of the client.
type request struct {
	session, method string
	command         bool // a prompt that begins with a slash
	// aside says that it is a prompt that was answered during the turn of an older one of its session, or may
	// have been because it is a command.
	aside bool
}

// openRequests finds the prompts that were answered during the turn of another one.
type openRequests struct {
	all     map[string]request
	prompts []string // the ids of prompts without an answer, in their order
}

func (o *openRequests) begin(id string, r request) {
	r.aside = r.command && slices.ContainsFunc(o.prompts, func(older string) bool { return o.all[older].session == r.session })
	o.all[id] = r
	if r.method == "session/prompt" {
		o.prompts = append(o.prompts, id)
	}
}

// end removes the prompt that a frame answers, if it answers one.
func (o *openRequests) end(data []byte) {
	var l line
	if json.Unmarshal(data, &l) != nil || l.Method != "" {
		return
	}
	at := slices.Index(o.prompts, string(l.ID))
	if at < 0 {
		return
	}
	r := o.all[string(l.ID)]
	r.aside = r.aside || slices.ContainsFunc(o.prompts[:at], func(older string) bool { return o.all[older].session == r.session })
	o.all[string(l.ID)] = r
	o.prompts = slices.Delete(o.prompts, at, at+1)
}

// callers maps a call to the call whose subagent makes it, which only the first update of a call names.
type callers map[string]string

// note stores the caller that a frame of a call names, or sets the caller of a frame that names none.
func (c callers) note(f *frame) {
	switch {
	case !calls(f) || f.of == "":
	case f.caller != "":
		c[f.of] = f.caller
	default:
		f.caller = c[f.of]
	}
}

// parse decodes a frame. requests are the requests of the client by their ids.
func parse(data []byte, requests map[string]request) *frame {
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
		to := requests[f.id]
		f.session = to.session
		f.aside = to.aside || !slices.Contains([]string{"session/prompt", "session/load", "session/new"}, to.method)
	case l.Method != "session/update":
		f.class = class{"request", l.Params.ToolCall.ID}
	default:
		f.update(&l)
	}
	return f
}

func (f *frame) update(l *line) {
	u := l.Params.Update
	f.caller = u.Meta.ClaudeCode.Parent
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
		f.moves, f.shows = u.Status != nil, u.Content != nil
	case u.Kind == "plan":
	case strings.HasSuffix(u.Kind, "_update"):
		f.class = class{"state", u.Kind}
	}
}

// commute reports whether two frames of a session may come in either order: they belong to calls that run
// concurrently, only one of them is from a subagent, or one of them is sent aside.
func commute(a, b *frame) bool {
	switch {
	case a.aside || b.aside:
		return a.class != b.class
	case (a.caller == "") != (b.caller == ""):
		return true
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
