package session

import (
	"regexp"
	"strings"
	"sync"

	"acp-agent/internal/network"
	"acp-agent/transcript"
)

// address finds web addresses in what the user wrote.
var address = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\bhttps?://(?:\[[0-9a-f:.]+\])?[^\s<>"'` + "`" + `)\]}]*`)
})

// hostsIn are the hosts that the user named in a prompt, by an address or a
// link. What the editor embedded is not the user's word.
func hostsIn(prompt *transcript.Message) []string {
	var found []string
	for _, part := range prompt.Parts {
		switch part := part.(type) {
		case *transcript.TextPart:
			if !part.Synthetic {
				found = append(found, address().FindAllString(part.Text, -1)...)
			}
		case *transcript.LinkPart:
			found = append(found, part.URI)
		}
	}
	var hosts []string
	for _, url := range found {
		if target, err := network.Parse(strings.TrimRight(url, ".,;:!?")); err == nil {
			hosts = append(hosts, target.Host)
		}
	}
	return hosts
}
