package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"acp-agent/kinds"
	"acp-agent/loop"
	"acp-agent/session"
	"acp-agent/transcript"
)

// report prints a turn as it runs, or keeps it for one JSON object.
type report struct {
	out, progress io.Writer
	asJSON        bool

	mu      sync.Mutex        // guards what follows
	parts   map[string]bool   // open parts; true for text, false for thoughts
	tools   map[string]string // tool ids by call
	paths   map[string]string // names of subagents by the calls that spawned them
	midLine bool
	result  runResult
	said    []string // the texts of messages
	goesOn  bool     // the next step continues the last message
	wentOn  bool     // the step that was started last continues the message before it
}

// runResult is what --json prints.
type runResult struct {
	StopReason string `json:"stop_reason,omitempty"`
	// Answer is the last message, Messages are all, one for each step that said something.
	Answer    string           `json:"answer"`
	Messages  []string         `json:"messages"`
	ToolCalls []runCall        `json:"tool_calls"`
	Usage     transcript.Usage `json:"usage"`
	// Subagents are all of the session; the tool calls and the usage are not theirs.
	Subagents []transcript.ChildRecord `json:"subagents"`
	Error     string                   `json:"error,omitempty"`
}

type runCall struct {
	Tool   string              `json:"tool"`
	Title  string              `json:"title"`
	State  transcript.State    `json:"state"`
	Result transcript.Envelope `json:"result"`
}

func newReport(out, progress io.Writer, asJSON bool) *report {
	return &report{
		out: out, progress: progress, asJSON: asJSON, parts: map[string]bool{}, tools: map[string]string{}, paths: map[string]string{},
		result: runResult{Messages: []string{}, ToolCalls: []runCall{}, Subagents: []transcript.ChildRecord{}},
	}
}

// Emit takes an event of the turn. Calls of one batch emit side by side.
func (r *report) Emit(e transcript.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e := e.(type) {
	case transcript.UserSaid:
		r.goesOn = r.goesOn || loop.GoesOn(e.Message) // a reminder may follow
	case transcript.StepStarted:
		if !r.goesOn || len(r.said) == 0 {
			r.said = append(r.said, "")
		}
		r.goesOn, r.wentOn = false, r.goesOn
	case transcript.StepDropped:
		r.goesOn = r.wentOn
	case transcript.PartStarted:
		r.parts[e.PartID] = e.Kind == transcript.TextKind
	case transcript.PartDelta:
		if r.parts[e.PartID] {
			r.say(e.Text)
		}
	case transcript.PartEnded:
		r.endLine()
		delete(r.parts, e.PartID)
	case transcript.StepFinished:
		if e.Usage != nil {
			r.result.Usage = r.result.Usage.Add(*e.Usage)
		}
	case transcript.ToolReady:
		r.tools[e.CallID] = e.Tool
	case transcript.ToolFinished:
		r.result.ToolCalls = append(r.result.ToolCalls, runCall{
			Tool: r.tools[e.CallID], Title: e.Card.Title, State: e.State, Result: e.Result,
		})
		r.note(fmt.Sprintf("%s: %s", e.Card.Title, ending(e)))
	case transcript.Notice:
		r.note(e.Text)
	case transcript.Compacted:
		r.note(e.Message.Compaction.Sentence())
	case transcript.AgentSaid:
		if text := e.Message.Typed(); text != "" { // the others are for the model only
			r.aside(text)
		}
	default:
		r.subagent("", e)
	}
}

// ending says in one line how a call ended.
func ending(e transcript.ToolFinished) string {
	switch {
	case e.Background:
		return "runs in the background"
	case e.State == transcript.Done:
		return "done"
	}
	first, _, _ := strings.Cut(e.Result.ErrorText, "\n")
	return string(e.State) + ": " + first
}

func (r *report) say(text string) {
	if r.asJSON {
		r.said[len(r.said)-1] += text
		return
	}
	io.WriteString(r.out, kinds.Visible(text)) // a model must not send escape sequences to a terminal
	r.midLine = !strings.HasSuffix(text, "\n")
}

func (r *report) endLine() {
	if r.midLine {
		io.WriteString(r.out, "\n")
		r.midLine = false
	}
}

func (r *report) note(text string) {
	if !r.asJSON {
		fmt.Fprintln(r.progress, "•", kinds.Visible(text))
	}
}

// failed ends the report of a turn that could not be finished.
func (r *report) failed(err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endLine()
	var value *session.BadValueError
	if errors.As(err, &value) {
		return &exitError{exitUsage, err}
	}
	if !r.asJSON {
		return err
	}
	r.result.Error = err.Error()
	return r.print(exitFailed)
}

// ended ends the report with the stop reason's exit code.
func (r *report) ended(stop loop.StopReason) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endLine()
	codes := map[loop.StopReason]int{
		loop.EndTurn: exitOK, loop.Refusal: exitRefused, loop.MaxTokens: exitLimit, loop.MaxTurnRequests: exitLimit,
		loop.Cancelled: exitCancelled,
	}
	r.result.StopReason = string(stop)
	if r.asJSON {
		return r.print(codes[stop])
	}
	if code := codes[stop]; code != exitOK {
		return &exitError{code, fmt.Errorf("the turn ended early: %s", stop)}
	}
	return nil
}

func (r *report) print(code int) error {
	for _, text := range r.said {
		if text = strings.TrimSpace(text); text != "" {
			r.result.Messages, r.result.Answer = append(r.result.Messages, text), text
		}
	}
	if err := printJSON(r.out, r.result); err != nil {
		return err
	}
	if code != exitOK {
		return &exitError{code: code}
	}
	return nil
}

// printLine prints a value as one line of JSON.
func printLine(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

// printJSON prints a value as indented JSON.
func printJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}
