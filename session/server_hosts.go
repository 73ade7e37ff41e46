package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"acp-agent/internal/egress"
	"acp-agent/kinds"
	"acp-agent/mcp"
	"acp-agent/sandbox"
	"acp-agent/tools/pipeline"
	"acp-agent/workspace/run"
)

// maxClosed bounds the hosts that are noted of one server: a server may ask for any number.
const maxClosed = 8

// closedHosts are what was closed to servers whose entries list hosts, by the ids of the servers, as
// people are told of it. It is safe for concurrent use.
type closedHosts struct {
	mu    sync.Mutex
	notes map[string][]string
}

// note reports whether a text is new.
func (c *closedHosts) note(id, text string) (added bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.notes[id]) >= maxClosed || slices.Contains(c.notes[id], text) {
		return false
	}
	if c.notes == nil {
		c.notes = map[string][]string{}
	}
	c.notes[id] = append(c.notes[id], text)
	return true
}

func (c *closedHosts) of(id string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.notes[id])
}

// Status are the servers, with what was closed to them.
func (s *servers) Status() []mcp.Status {
	list := s.Manager.Status()
	for i := range list {
		if list[i].Hosts != nil {
			list[i].Notes = s.closed.of(list[i].ID)
		}
	}
	return list
}

// errOpenNetwork is why a server whose entry lists hosts does not start.
var errOpenNetwork = errors.New("its entry lists the hosts of its network, and no sandbox is here that could close the rest; " +
	"`acp-agent doctor` says why. Without \"network\" in the entry it has the whole network")

// mayHold reports an error where nothing could keep a server to its hosts: it never gets more than
// its entry lists. Where the network can be closed, but not host by host, it has none, as commands.
func (s *servers) mayHold(ctx context.Context, server mcp.Server) error {
	runner := s.work.Runner()
	report, _, err := runner.Sandbox(ctx)
	if err == nil && (report.Refused == "" && (!report.Confines() || !report.Network)) {
		err = errOpenNetwork
	}
	if err == nil && len(server.Hosts) > 0 && !runner.ConnectsListed(ctx) {
		s.noteClosed(server, "it has no network: "+heldBy(report)+" cannot tell hosts apart here, so its list opens none")
	}
	return err
}

// heldBy names a sandbox.
func heldBy(r sandbox.Report) string { return "the sandbox (" + string(r.Kind) + ")" }

// connectListed judges what a server reaches for. It is started outside of any call, and speaks to its
// hosts between calls, so that nothing is asked: what the list lacks is closed, and said.
func (s *servers) connectListed(server mcp.Server) run.Connect {
	return func(_ context.Context, to egress.Destination) error {
		unlisted, err := pipeline.ConnectListed(s.rules(), server.Hosts, to)
		refusal, refused := errors.AsType[*egress.Refusal](err)
		if !refused {
			return err
		}
		text := fmt.Sprintf("the network was closed to it for %s: %s", code(to.Pair()), refusal.Reason)
		if unlisted != "" {
			text += fmt.Sprintf("; to open it, add %s to %s of its entry", code(fmt.Sprintf("%q", unlisted)), code("network"))
		}
		s.noteClosed(server, text)
		return err
	}
}

// noteClosed keeps a note for /mcp, and logs it when it is new.
func (s *servers) noteClosed(server mcp.Server, text string) {
	id := mcp.ID(server.Name)
	if s.closed.note(id, text) {
		s.host.Logger.Warn("mcp server", "server", id, "network", kinds.Line(text, lineRunes))
	}
}
