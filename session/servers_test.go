package session

import (
	"slices"
	"strings"
	"testing"

	"acp-agent/mcp"
	"acp-agent/transcript"
)

// Rules about a server by its name are about the user's own: the editor's server of that name is
// another one, and nothing of a project runs that the user does not trust.
func TestServers_Now(t *testing.T) {
	settings := Settings{Sources: Sources{Servers: []mcp.Server{{Name: "notes", URL: "https://mine.example"}}, EditorUnconfined: true}}
	p := newParts(t, settings, nil)
	p.spec.Servers = []mcp.Server{{Name: "notes", Command: "notes"}, {Name: "clock", Command: "npx", Args: []string{"clock"}}}
	p.project.offer.servers = []mcp.Server{{Name: "theirs", Command: "run"}}
	s := newServers(p.opened, p.project, p.conversation, nil, nil)
	t.Cleanup(s.Close)
	var got []string
	for _, server := range s.allowed() {
		text := server.Name + server.URL
		for name, is := range map[string]bool{" untrusted name": server.UntrustedName, " unconfined": server.Unconfined, " project": server.Project} {
			if is {
				text += name
			}
		}
		if server.Apart {
			text += " apart"
		}
		got = append(got, text)
	}
	want := []string{"notes untrusted name unconfined", "clock unconfined apart", "noteshttps://mine.example"}
	if sorted(got) != sorted(want) {
		t.Errorf("the servers are %q, want %q", got, want)
	}
	if text := s.text(); !strings.Contains(text, "The project names 1 more server") {
		t.Errorf("/mcp says %q", text)
	}
}

// sorted are texts, each with its words in order.
func sorted(texts []string) string {
	var list []string
	for _, text := range texts {
		words := strings.Fields(text)
		slices.Sort(words)
		list = append(list, strings.Join(words, " "))
	}
	return strings.Join(list, "; ")
}

// A tool of a server that has not answered can be asked about by its name.
func TestServers_Unseen(t *testing.T) {
	p := newParts(t, Settings{Sources: Sources{Servers: []mcp.Server{{Name: "My Notes", URL: "https://mine.example"}}}}, nil)
	s := newServers(p.opened, p.project, p.conversation, nil, nil)
	t.Cleanup(s.Close)
	tool, ok := s.unseen("mcp__" + mcp.ID("My Notes") + "__list")
	if !ok || tool.Source.Server != mcp.ID("My Notes") {
		t.Errorf("stands in: %+v, %t", tool.Spec, ok)
	}
	if tool, ok := s.unseen("mcp__other__list"); ok {
		t.Errorf("stands in for another server: %+v", tool.Spec)
	}
}

// Where the editor cannot show an address, it stands in the chat, which the model does not read.
func TestServers_ShowAddressInTheChat(t *testing.T) {
	p := newParts(t, Settings{}, nil)
	s := newServers(p.opened, p.project, p.conversation, nil, nil)
	t.Cleanup(s.Close)
	done, err := s.showAddress(t.Context(), "Sign in.", "https://auth.example/x")
	if err != nil {
		t.Fatal(err)
	}
	done()
	said, ok := p.shown[len(p.shown)-1].(transcript.AgentSaid)
	if !ok || !strings.Contains(said.Message.Text(), "<https://auth.example/x>") || len(p.conversation.log.Messages()) != 0 {
		t.Errorf("the client was shown %+v", p.shown)
	}
}
