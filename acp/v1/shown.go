package v1

import (
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

// apply notes a change.
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

// news is a change without the fields that a client shows already, whether it takes over
// what permission requests carry (Zed replaces the card by it) or not (CodeCompanion).
func (v *callView) news(c change) change {
	known := []*shown{&v.shown}
	if v.asked != nil {
		known = append(known, v.asked)
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

// remember notes a change that is sent as an update.
func (v *callView) remember(c change) {
	v.apply(c)
	if v.asked != nil {
		v.asked.apply(c)
	}
}

// request notes a change that a permission request carries. preview is what the tool
// shows of the call: what the card is to show once the call runs, unless it runs already
// or has a terminal.
func (v *callView) request(c change, preview []kinds.Content) {
	if v.asked == nil {
		before := v.shown
		v.asked = &before
	}
	v.asked.apply(c)
	v.running = v.content
	if v.status == pending && v.pane == plainPane {
		v.running = preview
	}
}

// start is the change of a call that begins to run, or goes on after a question. Whatever
// a permission request showed in its card ends.
func (v *callView) start() change {
	c := change{status: inProgress}
	if v.asked != nil {
		c.title, c.kind = v.label, v.kind
		c.locations, c.content = orEmpty(v.locations), orEmpty(v.running)
	}
	return c
}

// orEmpty is a list that says that there is nothing where it has nothing.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func sameContent(a, b []kinds.Content) bool {
	return len(a) == 0 && len(b) == 0 || reflect.DeepEqual(a, b)
}
