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
)

// Connect decides whether a command may connect to a host, and may ask the user. A
// *egress.Refusal says why not.
type Connect func(ctx context.Context, to egress.Destination) error

// Login decides whether a command gets the user's login for a host, may ask the user, and returns it. A
// *egress.Refusal says why not.
type Login func(ctx context.Context, want egress.Login) (egress.Login, error)

// gitConfigCount is the variable by which commands already have settings of git's.
const gitConfigCount = "GIT_CONFIG_COUNT"

// commandProxy is the proxy of one command. A nil one is that of a command without a proxy.
type commandProxy struct {
	server *egress.Proxy
	port   int // of the loopback address
	grant  Grant
	clock  *clock

	mu      sync.Mutex
	refused []string // notes about hosts and logins that were refused
}

// maxRefused bounds the notes about hosts that a command could not reach.
const maxRefused = 8

// startProxy starts the proxy of a command in a namespace, if any, with a listener and a credential of its own. env leads
// programs to it. A loopback address that is listed for a program is the machine's, whatever commands serve at theirs:
// they would be told what the program tells the machine's server, such as its key.
func (r *Runner) startProxy(g Grant, c *clock, space *netns.Space) (p *commandProxy, env []string, err error) {
	credential := rand.Text()
	p = &commandProxy{grant: g, clock: c}
	o := egress.Options{Credential: credential, Judge: p.judge, Upstream: egress.UpstreamFrom(r.o.Environ)}
	if g.Login != nil {
		o.Login = p.login
	}
	var listener net.Listener
	if space != nil {
		if !g.Listed {
			o.Inside = space.Dial
		}
		listener, err = space.Listen()
	} else {
		listener, err = net.Listen("tcp4", "127.0.0.1:0")
	}
	if err != nil {
		return nil, nil, err
	}
	p.port = listener.Addr().(*net.TCPAddr).Port
	p.server = egress.Serve(listener, o)
	return p, proxyEnv(p.port, credential), nil
}

// loopbackPort returns the proxy's port on the loopback address; 0 without a proxy.
func (p *commandProxy) loopbackPort() int {
	if p == nil {
		return 0
	}
	return p.port
}

// judge asks about a host while the command's clock stands still.
func (p *commandProxy) judge(ctx context.Context, to egress.Destination) error {
	defer p.clock.wait()()
	err := p.grant.Connect(ctx, to)
	if refusal, ok := errors.AsType[*egress.Refusal](err); ok {
		p.note(fmt.Sprintf("The network is closed for %s: %s.", to.Pair(), refusal.Reason))
	}
	return err
}

// login asks about a login while the command's clock stands still.
func (p *commandProxy) login(ctx context.Context, want egress.Login) (egress.Login, error) {
	defer p.clock.wait()()
	login, err := p.grant.Login(ctx, want)
	if refusal, ok := errors.AsType[*egress.Refusal](err); ok {
		p.note(fmt.Sprintf("The command gets no login for %s: %s.", want.To.Pair(), refusal.Reason))
	}
	return login, err
}

func (p *commandProxy) note(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.refused) < maxRefused && !slices.Contains(p.refused, text) {
		p.refused = append(p.refused, text)
	}
}

// notes say which hosts were refused.
func (p *commandProxy) notes() []string {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.refused)
}

func (p *commandProxy) close() {
	if p != nil {
		p.server.Close()
	}
}

// proxyEnv returns the variables that lead programs to the proxy. ALL_PROXY, too, names it as an HTTP proxy,
// because some programs fail at a SOCKS address that they cannot use. Servers inside the namespace are also reached
// through the proxy, which looks there first.
func proxyEnv(port int, credential string) []string {
	address := (&url.URL{Scheme: "http", User: url.UserPassword(egress.User, credential), Host: fmt.Sprintf("127.0.0.1:%d", port)}).String()
	var env []string
	for _, name := range [...]string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "FTP_PROXY", "ftp_proxy"} {
		env = append(env, name+"="+address)
	}
	return append(env, "NO_PROXY=", "no_proxy=", "NODE_USE_ENV_PROXY=1")
}
