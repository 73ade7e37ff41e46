package run

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"sync"

	"acp-agent/internal/egress"
	"acp-agent/internal/netns"
	"acp-agent/sandbox"
)

// Connect decides whether a command may connect to a host, and may ask the user. A
// *egress.Refusal says why not.
type Connect func(ctx context.Context, to egress.Destination) error

// space is the network namespace of the session's commands, made when the first one
// needs it.
type space struct {
	make sync.Once
	made *netns.Space
	err  error
}

// Connects reports whether commands get their network from the agent's proxy, which asks
// Grant.Connect about each host: with bubblewrap the machine has to make network namespaces;
// sandbox-exec holds a command to one port of this machine.
func (r *Runner) Connects(ctx context.Context) bool {
	return !r.o.Sandbox.Network && r.ConnectsListed(ctx)
}

// ConnectsListed is Connects for a program whose hosts are listed, which are its network also
// where commands have all of it.
func (r *Runner) ConnectsListed(ctx context.Context) bool {
	report, _, err := r.Sandbox(ctx)
	if err != nil || !r.hasProxy(report) {
		return false
	}
	if report.Kind == sandbox.Seatbelt {
		return true
	}
	r.space.make.Do(func() { r.space.made, r.space.err = netns.Start(r.o.Launcher.Self, report.Apart()) })
	return r.space.err == nil
}

// MayConnect is Connects in a sandbox that was found, as far as that is known without trying.
func (r *Runner) MayConnect(report sandbox.Report) bool {
	return r.hasProxy(report) && !r.o.Sandbox.Network
}

// hasProxy reports whether a sandbox can hold a program to a proxy.
func (r *Runner) hasProxy(report sandbox.Report) bool {
	holds := report.Kind.HasView() || report.Kind == sandbox.Seatbelt
	return holds && report.Network && r.o.Launcher != nil
}

// joins reports whether a command has the proxy.
func (r *Runner) joins(ctx context.Context, g Grant) bool {
	if g.Connect == nil || g.Network || g.Offline || g.Reading || g.Unconfined {
		return false
	}
	return g.Listed && r.ConnectsListed(ctx) || !g.Listed && r.Connects(ctx)
}

// closeSpace ends the namespace, after the commands in it.
func (r *Runner) closeSpace() {
	r.space.make.Do(func() { r.space.err = net.ErrClosed })
	if r.space.made != nil {
		r.space.made.Close()
	}
}

// wayOut is the proxy of one command.
type wayOut struct {
	proxy   *egress.Proxy
	port    int
	connect Connect
	clock   *clock

	mu      sync.Mutex
	refused []string
}

// maxRefused bounds the notes about hosts that a command could not reach.
const maxRefused = 8

// wayOut gives a command its proxy, by a listener and with a credential of its own.
func (r *Runner) wayOut(connect Connect, c *clock) (*wayOut, []string, error) {
	credential := rand.Text()
	w := &wayOut{connect: connect, clock: c}
	o := egress.Options{Credential: credential, Judge: w.judge, Upstream: egress.UpstreamFrom(r.o.Environ)}
	var listener net.Listener
	var err error
	if r.space.made != nil {
		o.Inside = r.space.made.Dial
		listener, err = r.space.made.Listen()
	} else {
		listener, err = net.Listen("tcp4", "127.0.0.1:0")
	}
	if err != nil {
		return nil, nil, err
	}
	w.port = listener.Addr().(*net.TCPAddr).Port
	w.proxy = egress.Serve(listener, o)
	return w, proxyEnv(w.port, credential), nil
}

// enter is how a command comes into the session's namespace, nothing where there is none.
func (r *Runner) enter() []string {
	if r.space.made == nil {
		return nil
	}
	return r.space.made.Enter()
}

// at is the proxy's port on the loopback address, 0 for a command without a way out.
func (w *wayOut) at() int {
	if w == nil {
		return 0
	}
	return w.port
}

// judge asks about a host while the command's clock stands still.
func (w *wayOut) judge(ctx context.Context, to egress.Destination) error {
	defer w.clock.wait()()
	err := w.connect(ctx, to)
	if refusal, ok := errors.AsType[*egress.Refusal](err); ok {
		w.note(fmt.Sprintf("The network is closed for %s: %s.", to.Pair(), refusal.Reason))
	}
	return err
}

func (w *wayOut) note(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.refused) < maxRefused && !slices.Contains(w.refused, text) {
		w.refused = append(w.refused, text)
	}
}

// notes say which hosts were refused; a command without a way out has none.
func (w *wayOut) notes() []string {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.refused)
}

func (w *wayOut) close() {
	if w != nil {
		w.proxy.Close()
	}
}

// proxyEnv leads programs to the proxy. ALL_PROXY names it as an HTTP proxy too, for some
// programs fail at a SOCKS address that they cannot use. What is inside the namespace is
// reached through the proxy as well, which looks there first.
func proxyEnv(port int, credential string) []string {
	address := (&url.URL{Scheme: "http", User: url.UserPassword(egress.User, credential), Host: fmt.Sprintf("127.0.0.1:%d", port)}).String()
	var env []string
	for _, name := range [...]string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "FTP_PROXY", "ftp_proxy"} {
		env = append(env, name+"="+address)
	}
	return append(env, "NO_PROXY=", "no_proxy=", "NODE_USE_ENV_PROXY=1")
}
