package replay

import (
	"encoding/json"
	"slices"
	"strings"

	"acp-agent/internal/record"
)

// newMatcher reads the recorded frames of a player.
func newMatcher(p *record.Player) *matcher {
	m := &matcher{
		player: p, inHand: -1, compare: newComparison(p.Masked()), recorded: callers{}, live: callers{},
		requests: map[string]request{}, bySession: map[string][]*frame{}, skip: map[int]bool{}, requestIDs: map[string]string{}, states: map[string]*stateValues{},
	}
	r := recordingReader{
		matcher: m, open: openRequests{all: m.requests}, toolRequests: map[string]bool{}, answers: map[string]bool{}, closed: map[string]bool{},
		queued: map[string]string{},
	}
	for i, e := range p.Entries {
		switch e.Kind {
		case record.In:
			r.in(i, e.Data)
		case record.InEnd:
			r.inputEnded = true
		case record.Answered:
			r.answered(e.Data)
		case record.Looked:
			r.looked(i, e)
		case record.Out:
			r.out(i, e.Data)
		}
	}
	p.Finish(r.unordered...)
	m.cut = !r.inputEnded
	return m
}

// recordingReader reads the entries of a recording into a matcher, in their order.
type recordingReader struct {
	*matcher
	open         openRequests
	toolRequests map[string]bool // ids of requests of the agent that tools made
	answers      map[string]bool // texts that answered questions, such as the answer of a command
	inputEnded   bool
	closed       map[string]bool   // sessions that the client has closed
	queued       map[string]string // what the user is told of prompts that wait, by the key of the look
	unordered    []int             // entries that a replay does not wait for
}

// in reads a line of the client. The client's answer to a request of a tool is not passed to the agent.
func (r *recordingReader) in(entry int, data []byte) {
	var l line
	if json.Unmarshal(data, &l) != nil {
		return
	}
	r.closed[l.Params.SessionID] = r.closed[l.Params.SessionID] || l.Method == "session/close"
	if l.Method != "" && l.ID != nil {
		prompt := l.Params.Prompt
		command := len(prompt) > 0 && strings.HasPrefix(prompt[len(prompt)-1].Text, "/")
		r.open.opened(string(l.ID), request{session: l.Params.SessionID, method: l.Method, command: command})
	}
	if l.Method == "" && r.toolRequests[string(l.ID)] {
		r.skip[entry] = true
		r.unordered = append(r.unordered, entry)
	}
}

// answered reads the answer to a question.
func (r *recordingReader) answered(data []byte) {
	var text string
	if json.Unmarshal(data, &text) == nil {
		r.answers[strings.TrimSpace(text)] = text != ""
	}
}

// The looks around the notice of a prompt that waits. The first sees the format of the notice.
const (
	queuedLook = "queued"
	toldLook   = "queued and told"
)

// looked reads a look of the agent. The looks of a session or process that ends have no order.
func (r *recordingReader) looked(entry int, e record.Entry) {
	session, _, _ := strings.Cut(e.Key, " ")
	switch e.Name {
	case queuedLook:
		var format string
		_ = json.Unmarshal(e.Data, &format) // else no notice is found
		r.queued[e.Key] = format
	case toldLook:
		markNotice(r.bySession[session], r.queued[e.Key])
	}
	if r.inputEnded || r.closed[session] {
		r.unordered = append(r.unordered, entry)
	}
}

// markNotice marks the last notice with a format as unordered: it is about a prompt that waits, and comes while the
// turn goes on.
func markNotice(frames []*frame, format string) {
	before, after, _ := strings.Cut(format, "%s")
	for _, f := range slices.Backward(frames) {
		if format != "" && f.kind == "text" && !f.unordered && strings.Contains(f.text, before) && strings.Contains(f.text, after) {
			f.unordered = true
			return
		}
	}
}

// out reads a line of the agent.
func (r *recordingReader) out(entry int, data []byte) {
	r.open.answered(data)
	out := parse(data, r.requests)
	out.entry = entry
	r.recorded.resolve(out)
	if out.kind == "response" && r.requests[out.id].duringTurn {
		markAnswer(r.bySession[out.session], r.answers)
	}
	states, rest := splitStates(out)
	for _, state := range states {
		r.addState(state)
	}
	out.value = rest
	if out.kind == "state" {
		r.addState(out)
		r.unordered = append(r.unordered, entry)
		return
	}
	if madeByTool(out.method) || out.progress || out.method == "$/cancel_request" {
		if out.id != "" {
			r.toolRequests[out.id] = true
		}
		r.unordered = append(r.unordered, entry)
		if !out.progress {
			return
		}
	}
	r.bySession[out.session] = append(r.bySession[out.session], out)
}

// madeByTool reports whether tools make requests of a method. A replay does not run tools, so such
// requests are not made again.
func madeByTool(method string) bool {
	return strings.HasPrefix(method, "fs/") || strings.HasPrefix(method, "terminal/")
}

// markAnswer marks the text that answers a prompt during a turn as unordered: the last text before the response
// that was recorded as the answer to a question, or else the last that was sent in one piece.
func markAnswer(frames []*frame, answers map[string]bool) {
	pieces := map[string]int{}
	var last *frame
	for _, f := range frames {
		pieces[f.message]++
	}
	for _, f := range slices.Backward(frames) {
		switch {
		case f.kind != "text" || f.unordered:
		case answers[strings.TrimSpace(f.text)]:
			f.unordered = true
			return
		case last == nil && pieces[f.message] == 1:
			last = f
		}
	}
	if last != nil {
		last.unordered = true
	}
}
