package session

import (
	"slices"
	"testing"

	"acp-agent/transcript"
)

// What the user writes names hosts; what the editor embedded does not.
func TestHostsIn(t *testing.T) {
	prompt := &transcript.Message{Parts: []transcript.Part{
		&transcript.TextPart{Text: "See (https://Go.dev/doc), http://[2606:4700::1111]/x and https://pkg.go.dev. Not ftp://x.example or mailto:a@b.example"},
		&transcript.TextPart{Text: "https://synthetic.example", Synthetic: true},
		&transcript.ResourcePart{URI: "file:///a", Text: "https://embedded.example"},
		&transcript.LinkPart{URI: "https://link.example/page"},
	}}
	want := []string{"go.dev", "2606:4700::1111", "pkg.go.dev", "link.example"}
	if got := hostsIn(prompt); !slices.Equal(got, want) {
		t.Errorf("hosts = %q, want %q", got, want)
	}
}

// Only plain hosts are taken from a search (they come from anywhere).
func TestNameHosts_NoPatterns(t *testing.T) {
	s := newConversation(conversationOptions{sink: transcript.Discard, watch: func(transcript.Event) {}, archive: newArchive("ses", nil)}, &account{})
	s.nameHosts([]string{"*.com", "*", "go.dev", "evil.com/x", "a b", "GO.dev", "2606:4700::1111", "{a,b}.com", ""})
	if got, want := s.log.Memory().Hosts, []string{"go.dev", "2606:4700::1111"}; !slices.Equal(got, want) {
		t.Errorf("hosts = %q, want %q", got, want)
	}
}
