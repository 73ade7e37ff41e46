package watchdog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"acp-agent/capability"
	"acp-agent/permissions"
)

const (
	// MaxAnswer bounds what an external watchdog may print, in bytes.
	MaxAnswer = 64 << 10
	// maxReason bounds what is shown of its reason, in characters.
	maxReason = 500
)

// External is a program that judges. It is started for each call and gets one JSON
// object on its input:
//
//	{"session_id": "...", "call_id": "...", "tool": "bash", "args": {...},
//	 "agent": "main", "is_subagent": false, "path": ["..."], "cwd": "/w", "roots": ["/w"],
//	 "mode": "ask"}
//
// It prints one as well, and ends with exit code 0:
//
//	{"decision": "allow" | "deny" | "ask", "reason": "..."}
//
// Members that are not known are passed over. Everything else is a failure, and so a
// denial.
type External struct {
	// Name is what people call it.
	Name string
	// Timeout bounds each call of it; it must be longer than nothing.
	Timeout time.Duration
	// Run starts it for a call, with the input, and returns what it printed. It is
	// to return promptly, and to have ended the program, when ctx ends. What it
	// returns as an error says what the program did wrong.
	Run func(ctx context.Context, call Call, input []byte) (output []byte, err error)
}

// errLate is the cause of a context that ended because the watchdog was too slow.
var errLate = errors.New("the watchdog is too slow")

// Judge implements Watchdog.
func (e External) Judge(ctx context.Context, call Call) (permissions.Decision, error) {
	input, err := json.Marshal(question{
		SessionID: call.SessionID, CallID: call.CallID, Tool: call.Tool, Args: call.Args,
		Agent: call.Agent, IsSubagent: call.IsSubagent, Path: call.Path, Cwd: call.Cwd, Roots: call.Roots, Mode: call.Mode,
	})
	if err != nil {
		return permissions.Decision{}, e.failed(err.Error())
	}
	bound, cancel := context.WithTimeoutCause(ctx, e.Timeout, errLate)
	defer cancel()
	output, err := e.Run(bound, call, input)
	switch {
	case ctx.Err() != nil:
		return permissions.Decision{}, context.Cause(ctx)
	case bound.Err() != nil:
		return permissions.Decision{}, e.failed(fmt.Sprintf("it did not answer within %v", e.Timeout))
	case err != nil:
		return permissions.Decision{}, e.failed(err.Error())
	case len(output) > MaxAnswer:
		return permissions.Decision{}, e.failed(fmt.Sprintf("it answered with more than %d bytes", MaxAnswer))
	}
	d, err := parseAnswer(output)
	if err != nil {
		return permissions.Decision{}, e.failed("its answer is " + err.Error())
	}
	if d.Action != capability.Allow {
		d.Reason = "watchdog " + e.Name + ": " + d.Reason
	}
	return d, nil
}

func (e External) failed(how string) error {
	return fmt.Errorf("watchdog %s: %s", e.Name, oneLine(how))
}

// question is what an external watchdog reads.
type question struct {
	SessionID  string          `json:"session_id"`
	CallID     string          `json:"call_id"`
	Tool       string          `json:"tool"`
	Args       json.RawMessage `json:"args"`
	Agent      string          `json:"agent"`
	IsSubagent bool            `json:"is_subagent"`
	Path       []string        `json:"path"`
	Cwd        string          `json:"cwd"`
	Roots      []string        `json:"roots"`
	Mode       string          `json:"mode"`
}

// parseAnswer reads an answer. Names count exactly, and once: of two decisions no one
// knows which was meant.
func parseAnswer(output []byte) (permissions.Decision, error) {
	decoder := json.NewDecoder(bytes.NewReader(output))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return permissions.Decision{}, errors.New("no JSON object")
	}
	members := map[string]json.RawMessage{}
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return permissions.Decision{}, errors.New("no JSON object")
		}
		name, _ := token.(string) // a name, or Token had failed
		if _, twice := members[name]; twice {
			return permissions.Decision{}, fmt.Errorf("ambiguous: it has %q twice", name)
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return permissions.Decision{}, errors.New("no JSON object")
		}
		members[name] = value
	}
	if _, err := decoder.Token(); err != nil {
		return permissions.Decision{}, errors.New("no JSON object")
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return permissions.Decision{}, errors.New("more than one JSON object")
	}
	return decisionOf(members)
}

func decisionOf(members map[string]json.RawMessage) (d permissions.Decision, err error) {
	var decision, reason string
	if json.Unmarshal(members["decision"], &decision) != nil {
		return d, errors.New(`without a "decision" of "allow", "deny" or "ask"`)
	}
	if text, given := members["reason"]; given && json.Unmarshal(text, &reason) != nil {
		return d, errors.New(`one whose "reason" is no text`)
	}
	d.Reason = oneLine(reason)
	if d.Reason == "" {
		d.Reason = "no reason given"
	}
	switch decision {
	case "allow":
		d.Action, d.Reason = capability.Allow, ""
	case "ask":
		d.Action = capability.Ask
	case "deny":
		d.Action = capability.Deny
	default:
		return d, fmt.Errorf(`the decision %q, which is none of "allow", "deny" and "ask"`, oneLine(decision))
	}
	return d, nil
}

// oneLine makes one bounded line of what a program printed.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > maxReason {
		return string(runes[:maxReason]) + " …"
	}
	return text
}
