package run

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"acp-agent/internal/textcut"
)

// unreachable are texts by which programs say that there is no network (S4).
var unreachable = [...]string{
	"could not resolve host", "couldn't resolve host", "temporary failure in name resolution", "name or service not known",
	"temporary failure resolving", "no such host", "network is unreachable", "enetunreach", "eai_again", "enotfound",
	"getaddrinfo", "nodename nor servname provided", "failed to lookup address", "dns error", "name resolution",
	"socket: operation not permitted", "socket: permission denied", "network is down", "no address associated with hostname",
	"could not resolve", "unable to resolve host", "dial tcp: lookup",
}

// maxTail is how much of the end of a command's output is looked at, in bytes.
const maxTail = 16 << 10

// wantsNetwork reports whether a command's output says that there was no network.
func wantsNetwork(output *textcut.Tail) bool { return says(output, unreachable[:]) }

// aboutSockets are words beside which a refusal is one of a socket.
var aboutSockets = [...]string{"socket", "listen", "connect", "bind"}

// refusedSocket reports whether a command's output says that it may not make a socket. Without a network namespace a
// command that has no network makes none, not even for a server of its own.
func refusedSocket(output *textcut.Tail) bool {
	return says(output, refused[:]) && says(output, aboutSockets[:])
}

// says reports whether the end of the output holds one of some texts in small letters.
func says(output *textcut.Tail, signs []string) bool {
	text := strings.ToLower(output.String())
	return slices.ContainsFunc(signs, func(sign string) bool { return strings.Contains(text, sign) })
}

// networkNote says what to do about a network that is closed.
func (c *confined) networkNote() string {
	note := fmt.Sprintf("The network is off for commands (sandbox: %s), and this one seems to need it.", c.report.Kind)
	if c.grant.Unattended {
		return note + " There is no user here who could open it."
	}
	return note + " Send the same command again, and the user is asked to run it with the network."
}

// closableOutput passes output on until the call has its answer.
type closableOutput struct {
	mu     sync.Mutex
	to     io.Writer
	closed bool
}

// Write passes output on, or drops it.
func (g *closableOutput) Write(b []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed || g.to == nil {
		return len(b), nil
	}
	return g.to.Write(b)
}

// shut drops what still comes, after a write that is in progress.
func (g *closableOutput) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}
