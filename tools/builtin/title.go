package builtin

import (
	"encoding/json"
	"fmt"

	"acp-agent/kinds"
)

// describe is the type of tools.Spec.Describe.
type describe = func(args json.RawMessage, in kinds.Place) kinds.Card

// given reads the arguments of a call into a struct for its title. A value of another type
// is left out, and so is everything when the arguments are malformed: the tool's label
// takes the place of the title.
func given[A any](args json.RawMessage) (a A) {
	_ = json.Unmarshal(args, &a)
	return a
}

// pathTitle names the file of a call's argument path, and the line that it begins at.
func pathTitle(verb string) describe {
	return func(args json.RawMessage, in kinds.Place) kinds.Card {
		a := given[struct {
			Path  string    `json:"path"`
			Range []float64 `json:"read_range"`
		}](args)
		if a.Path == "" {
			return kinds.Card{}
		}
		at := kinds.Location{Path: in.Abs(a.Path)}
		if len(a.Range) > 0 && a.Range[0] >= 1 {
			at.Line = int(a.Range[0])
		}
		title := verb + " " + in.Rel(at.Path)
		if at.Line > 1 {
			title = fmt.Sprintf("%s from line %d", title, at.Line)
		}
		return kinds.Card{Title: title, Locations: []kinds.Location{at}}
	}
}

// argumentTitle quotes one text argument after a verb.
func argumentTitle(verb, argument string) describe {
	return func(args json.RawMessage, _ kinds.Place) kinds.Card {
		var value string
		if json.Unmarshal(given[map[string]json.RawMessage](args)[argument], &value) != nil || value == "" {
			return kinds.Card{}
		}
		return kinds.Card{Title: verb + " " + value}
	}
}
