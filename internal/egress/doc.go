// Package egress is the only way out for a confined command: a proxy that connects to
// the hosts that its judge lets through, and to no others.
//
// It owns the protocols in which clients ask for a host ([Serve]: HTTP CONNECT, plain
// HTTP and SOCKS version 5 on one listener), the credential that a client has to show, the
// order of judging, looking up and connecting, and the comparison of the name in a TLS
// handshake with the one that was judged. It does not depend on rules, questions, commands
// and sandboxes: the caller passes the listener of a command, and a judge.
//
// A name is judged before it is looked up, because a look-up is seen by its name servers. The addresses that the
// name leads to are judged next, and the proxy connects to one of these very addresses: there is no second
// look-up whose answer could differ.
//
//	proxy := egress.Serve(listener, egress.Options{
//		Credential: credential,
//		Judge:      func(ctx context.Context, to egress.Destination) error { ... },
//	})
//	defer proxy.Close()
//
// Where the user has a proxy of their own ([UpstreamFrom]), that proxy connects to a name that passed, unless the
// name leads to no public address. It looks the name up itself, so which address it reaches is not checked here.
//
// Two servers behind one TLS name cannot be told apart: what a front server forwards
// within the encrypted connection is not seen.
//
// Allowed imports: the standard library, golang.org/x/net, internal/network,
// internal/pause and internal/relay.
//
// Goroutines: one accepts, each connection has one and a tunnel one more, and
// net/http has its own for each HTTP connection. [Proxy.Close] ends them all and waits.
//
// # Requirements
//
// R82, R124. docs/security.md N1 to N3 and L1.
package egress
