package projects

import (
	"context"
	"strings"

	"acp-agent/internal/textedit"
)

// Change is one difference between two snapshots.
type Change struct {
	Name string
	// What is "new", "changed" or "gone".
	What string
	// Diff is in the form of git, "" when a text was not kept.
	Diff string
}

// Changes lists what differs between the files that were trusted and the files
// that exist now, by name.
func Changes(was, now []File) []Change {
	var changes []Change
	for len(was) > 0 || len(now) > 0 {
		order := 0
		switch {
		case len(was) == 0:
			order = 1
		case len(now) == 0:
			order = -1
		default:
			order = strings.Compare(was[0].Name, now[0].Name)
		}
		switch {
		case order < 0:
			changes = append(changes, changed("gone", was[0], File{Name: was[0].Name}))
			was = was[1:]
		case order > 0:
			changes = append(changes, changed("new", File{Name: now[0].Name}, now[0]))
			now = now[1:]
		default:
			if was[0].Hash != now[0].Hash {
				changes = append(changes, changed("changed", was[0], now[0]))
			}
			was, now = was[1:], now[1:]
		}
	}
	return changes
}

func changed(what string, was, now File) Change {
	c := Change{Name: now.Name, What: what}
	if (was.Hash == "" || was.Text != "") && (now.Hash == "" || now.Text != "") {
		c.Diff = textedit.Unified(context.Background(), now.Name, was.Text, now.Text)
	}
	return c
}
