package run

import (
	"context"
	"net"
	"sync"

	"acp-agent/internal/netns"
	"acp-agent/sandbox"
)

// namespace is the network namespace of the session's commands, which has no way out but their proxies. It is
// made when the first command needs it.
type namespace struct {
	once  sync.Once
	space *netns.Space // nil when there is none
	err   error
}

// CanUseProxy reports whether a program can be held to the agent's proxy, which asks Grant.Connect about each
// host: with bubblewrap the machine has to make network namespaces; sandbox-exec holds a program to one port of
// this machine.
func (r *Runner) CanUseProxy(ctx context.Context) bool {
	report, _, err := r.Sandbox(ctx)
	if err != nil || !r.holdsToProxy(report) {
		return false
	}
	if report.Kind == sandbox.Seatbelt {
		return true
	}
	r.namespace.once.Do(func() { r.namespace.space, r.namespace.err = netns.Start(r.o.Launcher.Self, report.Apart()) })
	return r.namespace.err == nil
}

// CommandsUseProxy reports whether commands reach the network through the proxy, unless they have all of it or none.
func (r *Runner) CommandsUseProxy(ctx context.Context) bool {
	return !r.o.Sandbox.Network && r.CanUseProxy(ctx)
}

// MayUseProxy is CommandsUseProxy in a sandbox that was found, as far as that is known without
// making a network namespace.
func (r *Runner) MayUseProxy(report sandbox.Report) bool {
	return r.holdsToProxy(report) && !r.o.Sandbox.Network
}

// holdsToProxy reports whether a sandbox can hold a program to a proxy.
func (r *Runner) holdsToProxy(report sandbox.Report) bool {
	holds := report.Kind.HasView() || report.Kind == sandbox.Seatbelt
	return holds && report.Network && r.o.Launcher != nil
}

// usesProxy reports whether a command uses the proxy. A program with a list of hosts does so even where commands
// have the whole network.
func (r *Runner) usesProxy(ctx context.Context, g Grant) bool {
	if g.Connect == nil || g.Network || g.Offline || g.Reading || g.Unconfined {
		return false
	}
	return g.Listed && r.CanUseProxy(ctx) || !g.Listed && r.CommandsUseProxy(ctx)
}

// namespaceFor returns the namespace that a command is started in, nil where there is none: the session's, or one of its own
// for a program with a list of hosts, whose ports commands then do not reach. leave is called once, when nothing of the command
// is left.
func (r *Runner) namespaceFor(g Grant, report sandbox.Report) (space *netns.Space, leave func(), err error) {
	leave = func() {}
	if space = r.namespace.space; space == nil || !g.Listed {
		return space, leave, nil
	}
	if space, err = netns.Start(r.o.Launcher.Self, report.Apart()); err != nil {
		return nil, leave, err
	}
	return space, space.Close, nil
}

// closeNamespace ends the namespace, after the commands in it.
func (r *Runner) closeNamespace() {
	r.namespace.once.Do(func() { r.namespace.err = net.ErrClosed })
	if r.namespace.space != nil {
		r.namespace.space.Close()
	}
}
