package builtin

import (
	"fmt"

	"acp-agent/kinds"
	"acp-agent/tools"
)

// describe is the type of tools.Spec.Describe.
type describe = func(args tools.Args, in kinds.Place) kinds.Card

// pathTitle names the file of a call's argument path, and the line that it begins at.
func pathTitle[A pathed](verb string) describe {
	return func(args tools.Args, in kinds.Place) kinds.Card {
		a := tools.ArgsAs[A](args)
		if a.path() == "" {
			return kinds.Card{}
		}
		at := kinds.Location{Path: in.Abs(a.path())}
		if ranged, ok := any(a).(interface{ firstLine() int }); ok {
			at.Line = ranged.firstLine()
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
	return func(args tools.Args, _ kinds.Place) kinds.Card {
		value := args.Text(argument)
		if value == "" {
			return kinds.Card{}
		}
		return kinds.Card{Title: verb + " " + value}
	}
}
