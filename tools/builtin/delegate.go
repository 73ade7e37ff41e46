package builtin

import (
	"context"
	"strings"

	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// delegated is the data of a call that a subagent has answered (R62, R70).
type delegated struct {
	// Output is the subagent's last message.
	Output string `json:"output"`
	// SessionID is there when the subagent is a session of its own (R69).
	SessionID      string            `json:"session_id,omitempty"`
	Summary        string            `json:"summary"`
	ToolExecutions []tools.Execution `json:"tool_executions"`
	ModifiedFiles  []string          `json:"modified_files"`
	// Note says what kept the subagent from ending by itself.
	Note string `json:"note,omitempty"`
}

// startedData is the data of a call whose subagent runs in the background (R62).
type startedData struct {
	SessionID string `json:"session_id"`
}

// delegate hands work to a subagent and makes a result of what comes of it. Of one that
// was stopped, the error goes with what it had done.
func delegate(ctx context.Context, rt tools.Runtime, d tools.Delegation) (*tools.Result, error) {
	spawner, err := spawnerOf(rt)
	if err != nil {
		return nil, err
	}
	d.CallID = rt.CallID()
	out, err := spawner.Spawn(ctx, d)
	if out == nil {
		return nil, err
	}
	if d.Background && err == nil {
		id := out.Record.ID
		return &tools.Result{
			Data: startedData{id}, Content: out.Card, Background: true,
			Text: "Started in the background as " + id + ". You will be told when it has ended; do not wait for it, and do not do its work.",
		}, nil
	}
	result := &tools.Result{
		Data: delegatedOf(out), Text: answerOf(out, rt.Session()), Content: out.Card, TrackFiles: out.Modified, Partial: err != nil,
	}
	for _, path := range out.Modified {
		if len(result.Locations) < maxDelegatedLocations {
			result.Locations = append(result.Locations, kinds.Location{Path: path})
		}
	}
	return result, err
}

// spawnerOf is what the agent of a call delegates with, if it can.
func spawnerOf(rt tools.Runtime) (tools.Spawner, error) {
	if spawner := rt.Services().Agents; spawner != nil {
		return spawner, nil
	}
	return nil, tools.Errorf(tools.Unavailable, "Sub-agents not enabled")
}

// lacksAgent is the Lacks of a tool that delegates to an agent, "" being any.
func lacksAgent(agent string) func(tools.Services) string {
	return func(s tools.Services) string {
		if s.Agents == nil {
			return lacksAgents(s)
		}
		return s.Agents.Lacks(agent)
	}
}

// lacksAgents is the Lacks of a tool that is about subagents.
func lacksAgents(s tools.Services) string {
	if s.Agents == nil {
		return "sub-agents are not enabled"
	}
	return ""
}

// maxDelegatedLocations bounds the changed files that the card of a delegating call
// points to.
const maxDelegatedLocations = 20

func delegatedOf(out *tools.Delegated) delegated {
	data := delegated{
		Output: out.Record.Output, Summary: out.Summary, ToolExecutions: out.Executions, ModifiedFiles: out.Modified, Note: out.Record.Note,
	}
	if data.ToolExecutions == nil {
		data.ToolExecutions = []tools.Execution{}
	}
	if data.ModifiedFiles == nil {
		data.ModifiedFiles = []string{}
	}
	if out.Record.Inspectable {
		data.SessionID = out.Record.ID
	}
	return data
}

// answerOf is what the model of the parent reads: the answer, what kept it from being
// whole, and the files that are different now.
func answerOf(out *tools.Delegated, session tools.Session) string {
	var parts []string
	if text := strings.TrimSpace(out.Record.Output); text != "" {
		parts = append(parts, text)
	} else if out.Record.State == transcript.ChildDone {
		parts = append(parts, "(the subagent said nothing)")
	}
	if out.Record.Note != "" && out.Record.State == transcript.ChildDone { // else the error says it
		parts = append(parts, "Note: "+strings.TrimSuffix(out.Record.Note, ".")+".")
	}
	if len(out.Modified) > 0 {
		var files []string
		for _, path := range out.Modified {
			files = append(files, kinds.Line(session.Rel(path), namedRunes))
		}
		parts = append(parts, "Files changed: "+strings.Join(files, ", "))
	}
	return strings.Join(append(parts, "("+out.Summary+")"), "\n\n")
}
