// Package netns gives commands a network of their own that several of them share: a
// network namespace with nothing but a loopback device, held by a process of ours.
//
// It owns that process ([Hold] is its main), the way into the namespace ([Space.Enter]: a
// program of the system that joins it and becomes what is to run), and what the agent
// has inside: listeners ([Space.Listen]) whose connections it accepts outside, and connections
// to servers inside ([Space.Dial]). A process in the namespace can reach no host, no
// server of the machine and no abstract socket outside. It refuses to know commands,
// sandboxes and rules.
//
// The holder lives in a user namespace of its own too, for that is what an ordinary user may
// make. It ends when the agent does, which it learns from the end of their socket.
// Everything that has joined keeps the namespace until it ends.
//
// Linux alone has this; elsewhere [Start] returns errors.ErrUnsupported.
//
//	space, err := netns.Start(self)
//	if err != nil { ... } // the network stays off
//	defer space.Close()
//	listener, err := space.Listen()
//	argv = append(space.Enter(), argv...)
//
// Allowed imports: the standard library and golang.org/x/sys. Goroutines: none.
//
// # Requirements
//
// R124. SECURITY.md L1.
package netns
