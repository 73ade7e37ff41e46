package session

import (
	"errors"
	"strings"
	"testing"

	"acp-agent/capability"
	"acp-agent/permissions"
	"acp-agent/subagent"
)

const writer = "---\nname: writer\ndescription: Writes.\nmode: all\n---\nYou write.\n"

func newTestAgents(t *testing.T, settings Settings) (*agents, *parts) {
	t.Helper()
	p := newParts(t, settings, nil)
	return &agents{opened: p.opened, project: p.project}, p
}

// R63: the user talks to the agent that the client names, else to the stored one, else to the
// configured one, else to the shipped one.
func TestAgents_Choose(t *testing.T) {
	for _, tt := range []struct{ name, named, stored, configured, want string }{
		{"none", "", "", "", "main"},
		{"configured", "", "", "writer", "writer"},
		{"stored", "", "writer", "", "writer"},
		{"stored and gone", "", "deleted", "writer", "writer"},
		{"named", "main", "writer", "writer", "main"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, p := newTestAgents(t, Settings{Agent: tt.configured})
			p.manifest(t, "writer", writer)
			a.spec.Agent = tt.named
			if err := a.choose(tt.stored); err != nil || a.manifest.Name != tt.want {
				t.Errorf("chose %q, %v; want %q", a.manifest.Name, err, tt.want)
			}
		})
	}
}

func TestAgents_ChooseUnknown(t *testing.T) {
	a, p := newTestAgents(t, Settings{})
	p.manifest(t, "writer", writer)
	p.manifest(t, "helper", strings.ReplaceAll(strings.Replace(writer, "mode: all", "mode: subagent", 1), "writer", "helper"))
	for _, name := range []string{"unknown", "helper"} { // the user does not talk to a subagent
		a.spec.Agent = name
		err := a.choose("")
		bad, ok := errors.AsType[*BadValueError](err)
		if !ok || bad.Got != name || strings.Join(bad.Legal, " ") != "main plan writer" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// R64: only a manifest in the user's own folder counts as the user's word.
func TestAgents_Delegation(t *testing.T) {
	rules := []permissions.Rule{{Permission: "bash", Pattern: "make *", Action: capability.Allow}}
	for _, origin := range []subagent.Origin{subagent.User, subagent.Project} {
		d := delegation(subagent.Manifest{Rules: rules, Origin: origin, Level: subagent.Inherit})
		if user := origin == subagent.User; (len(d.UserManifest) == 1) != user || (len(d.Manifest) == 1) == user || d.Restricted {
			t.Errorf("origin %v: %+v", origin, d)
		}
	}
}

// The user hears of a manifest that cannot be used.
func TestAgents_Notices(t *testing.T) {
	a, p := newTestAgents(t, Settings{})
	p.manifest(t, "broken", "---\nname: broken\nmode: sideways\n---\n")
	list := a.notices()
	if len(list) != 1 || !strings.Contains(list[0].Text, "broken.md") || list[0].Title != "Agents" {
		t.Errorf("notices: %+v", list)
	}
}
