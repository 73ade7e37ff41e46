//go:build unix

package interop

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// interopMessage is a line of the connection as far as the checks look into it.
type interopMessage struct {
	ID     *int   `json:"id"`
	Method string `json:"method"`
	Params struct {
		Update   *interopUpdate  `json:"update"`
		ToolCall *interopUpdate  `json:"toolCall"`
		Prompt   interopContents `json:"prompt"`
		Options  []struct {
			Kind string `json:"kind"`
		} `json:"options"`
		interopElicitation
	} `json:"params"`
}

// interopUpdate is a session/update, or the call in a permission request.
type interopUpdate struct {
	Kind          string          `json:"sessionUpdate"`
	CurrentModeID string          `json:"currentModeId"`
	Text          string          `json:"-"`
	ToolCallID    string          `json:"toolCallId"`
	Title         string          `json:"title"`
	Name          string          `json:"name"`
	ToolKind      string          `json:"kind"`
	Status        string          `json:"status"`
	Content       interopContents `json:"content"`
	RawInput      map[string]any  `json:"rawInput"`
	RawOutput     struct {
		Data any `json:"data"`
	} `json:"rawOutput"`
	Locations []map[string]any `json:"locations"`
	Meta      struct {
		ClaudeCode struct {
			ParentToolUseID string `json:"parentToolUseId"`
		} `json:"claudeCode"`
		TerminalInfo *struct {
			ID string `json:"terminal_id"`
		} `json:"terminal_info"`
		TerminalOutput *struct {
			ID   string `json:"terminal_id"`
			Data string `json:"data"`
		} `json:"terminal_output"`
		TerminalExit *struct {
			ID   string `json:"terminal_id"`
			Code *int   `json:"exit_code"`
		} `json:"terminal_exit"`
	} `json:"_meta"`
}

// interopContents is the content of a call, or of a message chunk, where it is one block.
type interopContents []interopContent

type interopContent struct {
	Type       string `json:"type"`
	Text       string `json:"text"` // of a message chunk
	Path       string `json:"path"`
	OldText    string `json:"oldText"`
	NewText    string `json:"newText"`
	TerminalID string `json:"terminalId"`
	Content    struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
}

func (c *interopContents) UnmarshalJSON(text []byte) error {
	if text[0] == '[' {
		return json.Unmarshal(text, (*[]interopContent)(c))
	}
	*c = make(interopContents, 1)
	return json.Unmarshal(text, &(*c)[0])
}

// text joins the text blocks of a call's content.
func (c interopContents) text() string {
	var b strings.Builder
	for _, content := range c {
		b.WriteString(content.Content.Text)
	}
	return b.String()
}

// interopCall is a tool call as the updates told it.
type interopCall struct {
	id, name, kind string
	title          string
	opened         int // the line of its tool_call
	ended          int // the line of its last update
	started        int // the line where it was in progress, 0 when it never was
	states         []string
	contents       interopContents // the latest
	shown          string          // the texts of all contents, one after the other
	data           any             // of the result
	first          interopUpdate
	output         string   // of a terminal of ours
	parents        []string // what each message named as the parent
	exit           *int
}

// messages parses the lines that one side sent, by the number of the line.
func (r *interopReport) messages(t *testing.T, from string) map[int]interopMessage {
	t.Helper()
	all := map[int]interopMessage{}
	for i, line := range r.Lines {
		if line.From != from {
			continue
		}
		var m interopMessage
		if err := json.Unmarshal([]byte(line.Line), &m); err != nil {
			t.Errorf("line %d: %v", i, err)
		}
		all[i] = m
	}
	return all
}

// callsOf follows every tool call of a connection, and checks what holds for all of them:
// one tool_call first, updates after it, statuses that only move forward.
func callsOf(t *testing.T, report *interopReport) []*interopCall {
	t.Helper()
	var calls []*interopCall
	messages := report.messages(t, "agent")
	for i := range report.Lines {
		update := messages[i].Params.Update
		if update == nil || update.ToolCallID == "" {
			continue
		}
		at := slices.IndexFunc(calls, func(c *interopCall) bool { return c.id == update.ToolCallID })
		switch {
		case update.Kind == "tool_call" && at < 0:
			calls = append(calls, &interopCall{
				id: update.ToolCallID, name: update.Name, kind: update.ToolKind, opened: i, first: *update,
			})
			at = len(calls) - 1
		case update.Kind == "tool_call" || at < 0:
			t.Errorf("line %d: a %s for call %s, opened before: %t", i, update.Kind, update.ToolCallID, at >= 0)
			continue
		}
		calls[at].take(t, i, update)
	}
	return calls
}

func (c *interopCall) take(t *testing.T, line int, update *interopUpdate) {
	t.Helper()
	if n := len(c.states); n > 0 && (c.states[n-1] == "completed" || c.states[n-1] == "failed") {
		t.Errorf("line %d: an update of call %s, which has ended", line, c.id)
	}
	c.ended = line
	c.parents = append(c.parents, update.Meta.ClaudeCode.ParentToolUseID)
	if update.Status != "" {
		c.states = append(c.states, update.Status)
		if update.Status == "in_progress" {
			c.started = line
		}
	}
	if update.Title != "" {
		c.title = update.Title
	}
	if update.Content != nil {
		c.contents = update.Content
		c.shown += update.Content.text() + "\n"
	}
	if update.RawOutput.Data != nil {
		c.data = update.RawOutput.Data
	}
	if update.Meta.TerminalOutput != nil {
		c.output += update.Meta.TerminalOutput.Data
	}
	if update.Meta.TerminalExit != nil {
		c.exit = update.Meta.TerminalExit.Code
	}
}
