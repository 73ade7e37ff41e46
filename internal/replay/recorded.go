package replay

import (
	"encoding/json"
	"slices"
	"strings"

	"acp-agent/internal/record"
)

func newFrames(p *record.Player) *frames {
	f := &frames{
		player: p, ended: p.HasEnd(), next: -1, compare: newComparison(p.Masked()), recorded: callers{}, live: callers{},
		requests: map[string]request{}, bySession: map[string][]*frame{}, skip: map[int]bool{}, ids: map[string]string{}, states: map[string]*states{},
	}
	r := recordedFrames{
		frames: f, open: openRequests{all: f.requests}, toolRequests: map[string]bool{}, answers: map[string]bool{}, closed: map[string]bool{},
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
			r.looked(i, e.Key)
		case record.Out:
			r.out(i, e.Data)
		}
	}
	p.Finish(r.free...)
	return f
}

// recordedFrames reads the entries of a recording into frames, in their order.
type recordedFrames struct {
	*frames
	open         openRequests
	toolRequests map[string]bool // ids of requests of the agent that tools made
	answers      map[string]bool // texts that answered questions, such as the answer of a command
	inputEnded   bool
	closed       map[string]bool // sessions that the client has closed
	free         []int           // entries that a replay does not wait for
}

// in reads a line of the client. The client's answer to a request of a tool is not passed to the agent.
func (r *recordedFrames) in(entry int, data []byte) {
	var l line
	if json.Unmarshal(data, &l) != nil {
		return
	}
	r.closed[l.Params.SessionID] = r.closed[l.Params.SessionID] || l.Method == "session/close"
	if l.Method != "" && l.ID != nil {
		prompt := l.Params.Prompt
		command := len(prompt) > 0 && strings.HasPrefix(prompt[len(prompt)-1].Text, "/")
		r.open.begin(string(l.ID), request{session: l.Params.SessionID, method: l.Method, command: command})
	}
	if l.Method == "" && r.toolRequests[string(l.ID)] {
		r.skip[entry] = true
		r.free = append(r.free, entry)
	}
}

// answered reads the answer to a question.
func (r *recordedFrames) answered(data []byte) {
	var text string
	if json.Unmarshal(data, &text) == nil {
		r.answers[strings.TrimSpace(text)] = text != ""
	}
}

// looked reads a look of the agent. The looks of a session or process that ends have no order.
func (r *recordedFrames) looked(entry int, key string) {
	if session, _, _ := strings.Cut(key, " "); r.inputEnded || r.closed[session] {
		r.free = append(r.free, entry)
	}
}

// out reads a line of the agent.
func (r *recordedFrames) out(entry int, data []byte) {
	r.open.end(data)
	out := parse(data, r.requests)
	out.entry = entry
	r.recorded.note(out)
	if r.requests[out.id].aside && out.kind == "response" {
		markAside(r.bySession[out.session], r.answers)
	}
	states, rest := splitStates(out)
	for _, state := range states {
		r.addState(state)
	}
	out.value = rest
	if out.kind == "state" {
		r.addState(out)
		r.free = append(r.free, entry)
		return
	}
	if madeByTool(out.method) || out.progress || out.method == "$/cancel_request" {
		if out.id != "" {
			r.toolRequests[out.id] = true
		}
		r.free = append(r.free, entry)
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

// markAside marks the text that answered a prompt during a turn: the last text before the answer that was
// recorded as the answer to a question, or else the last that was sent in one piece.
func markAside(frames []*frame, answers map[string]bool) {
	pieces := map[string]int{}
	var last *frame
	for _, f := range frames {
		pieces[f.message]++
	}
	for _, f := range slices.Backward(frames) {
		switch {
		case f.kind != "text" || f.aside:
		case answers[strings.TrimSpace(f.text)]:
			f.aside = true
			return
		case last == nil && pieces[f.message] == 1:
			last = f
		}
	}
	if last != nil {
		last.aside = true
	}
}
