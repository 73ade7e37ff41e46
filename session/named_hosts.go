package session

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"acp-agent/internal/network"
	"acp-agent/transcript"
)

// address matches web addresses in what the user wrote.
var address = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\bhttps?://(?:\[[0-9a-f:.]+\])?[^\s<>"'` + "`" + `)\]}]*`)
})

// hostsIn are the hosts that the user named in a prompt, by an address or a link. The text of embedded
// files does not count: the user did not write it.
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

// unknownHosts are the hosts that are not known yet. A text that is no plain host name is left out: as a
// pattern it would allow other hosts too.
func unknownHosts(hosts, known []string) []string {
	return slices.DeleteFunc(slices.Clone(hosts), func(name string) bool {
		target, err := network.Parse("https://" + hostInURL(name))
		return err != nil || target.Host != name || strings.ContainsAny(name, "*?[]{}") || slices.Contains(known, name)
	})
}

// hostInURL is a host in the form that it has in an address.
func hostInURL(name string) string {
	if strings.Contains(name, ":") {
		return "[" + name + "]"
	}
	return name
}

// nameHosts puts the hosts into the transcript that it does not have yet.
func (c *conversation) nameHosts(hosts []string) {
	if fresh := unknownHosts(hosts, c.log.Memory().Hosts); len(fresh) > 0 {
		c.record(transcript.HostsNamed{Hosts: fresh})
	}
}
