package replay

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

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
	// hasStatus says that the frame has the next status of a call, and hasContent that it has the content of its
	// card, which comes with the status or, as progress, before or after it.
	hasStatus, hasContent bool
	opensCall             bool // it is the first frame of a call
	// unordered says that the frame has no place in the order of a turn: it answers a request that starts no
	// turn, or a prompt that was answered during the turn of another one.
	unordered    bool
	caller       string // the call whose subagent sent it, or hostQuestions; "" is the main agent
	inResponse   bool   // it is a state that came in a response
	done         bool   // a live frame has matched it
	matchedBytes int    // bytes of text that have come
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

// meta names the call whose subagent sent an update, and the tool of a call.
type meta struct {
	ClaudeCode struct {
		Parent string `json:"parentToolUseId"`
	} `json:"claudeCode"`
	ToolName string `json:"tool_name"`
}

// hostQuestions is the caller of the cards of questions about hosts that MCP servers reach for, and the name of
// their tool. No agent calls it.
const hostQuestions = "network"

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
		f.unordered = to.duringTurn || !slices.Contains([]string{"session/prompt", "session/load", "session/new"}, to.method)
	case l.Method != "session/update":
		f.class = class{"request", l.Params.ToolCall.ID}
	default:
		f.update(&l)
	}
	return f
}

// update reads the parts of a session/update.
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
		f.class, f.opensCall = class{"tool", u.CallID}, true
		if u.Meta.ToolName == hostQuestions {
			f.caller = hostQuestions
		}
	case u.Kind == "tool_call_update":
		f.class, f.progress = class{"tool", u.CallID}, u.Status == nil
		f.hasStatus, f.hasContent = u.Status != nil, u.Content != nil
	case u.Kind == "plan":
	case strings.HasSuffix(u.Kind, "_update"):
		f.class = class{"state", u.Kind}
	}
}

// callers maps a call to its caller, which only the first update of a call names.
type callers map[string]string

// resolve stores the caller that a frame of a call names, or sets that of a frame that names none.
func (c callers) resolve(f *frame) {
	switch {
	case !f.ofCall() || f.about == "":
	case f.caller != "":
		c[f.about] = f.caller
	default:
		f.caller = c[f.about]
	}
}

// ofCall reports whether the frame is about a call, or asks the user about one.
func (f *frame) ofCall() bool { return f.kind == "tool" || f.kind == "request" }
