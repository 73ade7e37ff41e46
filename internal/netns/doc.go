// Package netns gives commands a network that they share with each other and with nothing else: a
// network namespace with only a loopback device, held by a process of the agent's.
//
// It owns that process ([Hold] is its main) and the way into the namespace ([Space.Enter]: a program
// of the system that joins it and becomes the program to run). It owns what the agent has inside:
// listeners ([Space.Listen]) whose connections the agent accepts outside, connections to servers
// inside ([Space.Dial]), and the list of the sockets that listen there ([Space.Listeners]). A process
// in the namespace can reach no host, no server of the machine and no abstract socket outside. The
// package refuses to know commands, sandboxes and rules.
//
// The holder is two processes. The outer one makes the namespace, because the agent cannot where it
// runs as an ordinary user (see [Hold]). The inner one lives in the namespace, and in a user namespace
// too, for an ordinary user may make a network namespace only together with one. The inner process
// ends when the agent does, which it learns from the end of their socket, and the outer one ends with
// it. A process that has joined keeps the namespace alive until it ends. Some systems let only programs that they
// know make user namespaces, such as an Ubuntu whose AppArmor has a profile for bwrap. There that program
// is the outer process.
//
// Only Linux has network namespaces; elsewhere [Start] returns errors.ErrUnsupported.
//
//	space, err := netns.Start(self, nil)
//	if err != nil { ... } // the network stays off
//	defer space.Close()
//	listener, err := space.Listen()
//	argv = append(space.Enter(), argv...)
//
// Allowed imports: internal/textcut, the standard library and golang.org/x/sys. Goroutines: one for each [Space],
// by which os/exec keeps the holder's error output; it ends with the holder, for which Close waits.
//
// # Requirements
//
// R124. docs/security.md L1.
package netns
