// Package oauth signs a user in to a server behind HTTP, and keeps them signed in.
//
// It owns the sign-in by OAuth 2.1: the server's challenge and metadata, the registration of
// the agent as a client, the code that comes back to a listener of this machine alone
// ([Account.SignIn]); and the tokens, which are bound to one address and one client
// ([Account.Token], [Account.Renew]). Where the metadata leads comes from a server that is
// not trusted: what is asked is https and public, unless the server itself is neither.
//
// It refuses to know what the server is for, how a user is shown an address, and where
// tokens are kept.
//
//	account, err := oauth.New("https://tracker.example/mcp", oauth.Options{Store: store})
//	token, err := account.Token(ctx) // "" while no one has signed in
//	err = account.SignIn(ctx, oauth.Request{Challenge: refused.Header, Show: show})
//
// Allowed imports: kinds, internal/network, and the authorization part of the MCP library.
// A sign-in runs one goroutine that serves its listener and one that shows the address;
// both have ended when SignIn returns. There are no others.
//
// # Requirements
//
// R88, R92.
package oauth
