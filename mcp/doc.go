// Package mcp makes tools of MCP servers, and parts of messages of their prompts and
// resources: programs and addresses that the editor or the user names, none of which is
// believed.
//
// It owns the connections: a [Manager] for each session connects to all servers at once,
// behind the scenes, and again when one ends, after 1, 2, 5, 15 and then every 60 s. It
// owns what a server may be called by ([Name]), and what is taken of what it says: schemas
// and descriptions are bounded and cleaned, messages are at most 16 MiB, what is not a message
// is passed over, a result is data. A server that fails costs its own tools and nothing
// else.
//
// It refuses to know which agent asks, what is trusted and what is allowed: a tool of a server
// passes through the same stages as any other, and its default is a question.
//
// Over HTTP it sends the token of the sign-in, and has it renewed; where there is
// none, the server waits for a user ([Manager.SignIn]). What a server wants to know while
// one of its tools runs goes to a [Person]; a model for its own use it does not get.
//
//	servers := mcp.New(mcp.Options{Start: start})
//	defer servers.Close()
//	servers.Set([]mcp.Server{{Name: "files", Command: "mcp-files", Args: []string{"/srv"}}})
//	servers.Settle(ctx, time.Time{})
//	list, _ := servers.Tools()                                     // mcp__files__read and others
//	parts, err := servers.Expand(ctx, "mcp:files:review", "a.go") // what stands for /mcp:files:review a.go
//
// Of us a server learns the directories of the session, and nothing else.
//
// Allowed imports: floor 0, tools, mcp/oauth, and the MCP library, whose client it is; beside
// mcp/oauth no one else imports that. Programs are started by [Options].Start. The
// goroutines are in the comment of [Manager].
//
// # Requirements
//
// R88-R92, R158 (what is typed behind a prompt of a server), R159 (mentions of resources).
package mcp
