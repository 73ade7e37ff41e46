package replay

import (
	"encoding/json"
	"slices"
)

// request is a request of the client.
type request struct {
	session, method string
	command         bool // a prompt that begins with a slash
	// duringTurn says that it is a prompt that was answered during the turn of an older one of its session, or
	// may have been because it is a command.
	duringTurn bool
}

// openRequests finds the prompts that were answered during the turn of another one.
type openRequests struct {
	all     map[string]request
	prompts []string // the ids of prompts that are not answered yet, in their order
}

// opened adds a request.
func (o *openRequests) opened(id string, r request) {
	r.duringTurn = r.command && o.anyOf(r.session, o.prompts)
	o.all[id] = r
	if r.method == "session/prompt" {
		o.prompts = append(o.prompts, id)
	}
}

// answered removes the prompt that a frame answers, if it answers one.
func (o *openRequests) answered(data []byte) {
	var l line
	if json.Unmarshal(data, &l) != nil || l.Method != "" {
		return
	}
	id := string(l.ID)
	at := slices.Index(o.prompts, id)
	if at < 0 {
		return
	}
	r := o.all[id]
	r.duringTurn = r.duringTurn || o.anyOf(r.session, o.prompts[:at])
	o.all[id] = r
	o.prompts = slices.Delete(o.prompts, at, at+1)
}

// anyOf reports whether any of some prompts is of a session.
func (o *openRequests) anyOf(session string, prompts []string) bool {
	return slices.ContainsFunc(prompts, func(id string) bool { return o.all[id].session == session })
}
