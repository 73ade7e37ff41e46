package v1

import (
	"encoding/json"
	"reflect"
	"slices"

	"acp-agent/kinds"
)

// shown is what a client shows of a call.
type shown struct {
	title     string
	kind      kinds.Kind
	status    status
	locations []kinds.Location
	content   []kinds.Content
}

// permissionViews is what permission requests have changed of a call. Some clients (Zed)
// replace the card by the call in a request, others (CodeCompanion) do not.
type permissionViews struct {
	// shown is what the card shows in a client that does; nil before the first request.
	shown *shown
	// running is the content of the card once the call runs.
	running []kinds.Content
	// open says that the call waits for the user.
	open bool
	// input is that of the call, to be sent again after a request that had those of others as well.
	input json.RawMessage
}

// apply applies a change.
func (s *shown) apply(c change) {
	if c.title != "" {
		s.title = c.title
	}
	if c.kind != "" {
		s.kind = c.kind
	}
	if c.status != "" {
		s.status = c.status
	}
	if c.locations != nil {
		s.locations = c.locations
	}
	if c.content != nil {
		s.content = c.content
	}
}

// unknown is a change without the fields that every client shows already, whether or not it
// replaces cards by permission requests.
func (v *callView) unknown(c change) change {
	known := []*shown{&v.shown}
	if v.requests.shown != nil {
		known = append(known, v.requests.shown)
	}
	all := func(same func(*shown) bool) bool {
		return !slices.ContainsFunc(known, func(s *shown) bool { return !same(s) })
	}
	if all(func(s *shown) bool { return s.title == c.title }) {
		c.title = ""
	}
	if all(func(s *shown) bool { return s.kind == c.kind }) {
		c.kind = ""
	}
	if all(func(s *shown) bool { return s.status == c.status }) {
		c.status = ""
	}
	if all(func(s *shown) bool { return slices.Equal(s.locations, c.locations) }) {
		c.locations = nil
	}
	if all(func(s *shown) bool { return sameContent(s.content, c.content) }) {
		c.content = nil
	}
	return c
}

// noteUpdate notes a change that is sent as an update.
func (v *callView) noteUpdate(c change) {
	v.apply(c)
	if v.requests.shown != nil {
		v.requests.shown.apply(c)
	}
}

// noteRequest notes a change that a permission request carries. preview is what the tool
// shows of the call. The card shows the preview once the call runs, unless the call runs
// already or has a terminal.
func (v *callView) noteRequest(c change, preview []kinds.Content) {
	if v.requests.shown == nil {
		before := v.shown
		v.requests.shown = &before
	}
	v.requests.shown.apply(c)
	v.requests.running = v.content
	if v.status == pending && v.pane == plainPane {
		v.requests.running = preview
	}
}

// start is the change of a call that starts to run, or continues after a question. It
// replaces whatever a permission request showed in the card.
func (v *callView) start() change {
	c := change{status: inProgress}
	if v.requests.shown != nil {
		c.title, c.kind = v.label, v.kind
		c.locations, c.content = orEmpty(v.locations), orEmpty(v.requests.running)
	}
	return c
}

// orEmpty turns a nil list, which leaves a value as it is, into an empty one, which clears it.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func sameContent(a, b []kinds.Content) bool {
	return len(a) == 0 && len(b) == 0 || reflect.DeepEqual(a, b)
}
