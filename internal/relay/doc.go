// Package relay carries bytes between connections: between two open ones ([Join]), and from each
// connection of a listener to one that a function dials ([Serve]).
//
// Each direction ends by itself: when one side closes its half, what it sent still arrives, and the
// other direction continues. The package refuses to know what is carried, which clients may connect, and how the
// server is reached.
//
//	l, err := net.Listen("tcp4", "127.0.0.1:5173")
//	if err != nil { ... }
//	server := relay.Serve(l, func(ctx context.Context) (net.Conn, error) { return space.Dial(ctx, 5173) })
//	defer server.Close()
//
// Allowed imports: the standard library.
//
// Goroutines: a [Server] starts one that accepts and two for each connection; [Server.Close] ends
// them and waits. [Join] starts one, which has ended when Join returns.
//
// # Requirements
//
// R124. docs/security.md L1.
package relay
