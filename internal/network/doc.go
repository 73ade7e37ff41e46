// Package network is the agent's way to the web: an HTTP client that connects to
// public addresses only, whatever a name, a spelling or a redirect says.
//
// It owns what an address of the web may look like ([Parse]), which addresses
// are public ([Judge]), and the limits of one exchange: bytes, time, redirects.
// It refuses to know tools, permission rules and what a page means: the caller
// asks the user, this package cannot be talked into more.
//
// The check that counts is made on the address that is about to be connected,
// in the dialer, before a byte is sent. What is judged earlier, the text of the
// address and each redirect, only gives better messages and fewer look-ups.
//
//	client, err := network.New(network.Options{Grants: []string{"localhost:8080"}})
//	if err != nil {
//		return err // a grant is not a host:port
//	}
//	defer client.Close()
//	answer, err := client.Do(ctx, network.Request{URL: "https://example.com/"})
//	if blocked, ok := errors.AsType[*network.BlockedError](err); ok {
//		// nothing was sent; blocked.Reason says why
//	}
//
// It sends no cookies and no credentials of its own, asks no proxy, and keeps no
// connection open between requests.
//
// Allowed imports: the standard library and golang.org/x/net/idna. A request
// runs the goroutines of net/http for its connection, which end with [Client.Do];
// there are no others.
//
// # Requirements
//
// R82.
package network
