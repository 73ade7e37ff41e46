// Package v1 serves version 1 of the Agent Client Protocol over one connection. It
// translates and keeps no state of its own about a session: requests of the client become
// calls of the core, events of a session's transcript become session/update notifications,
// and the client's files, terminals, permission requests and forms implement interfaces of
// the core.
//
//	agent := v1.New(v1.Options{Core: core, Version: "0.1.0"})
//	conn := rpc.New(stdin, stdout, agent, rpc.Options{})
//	agent.Connect(conn)
//	err := conn.Run(ctx)
//	agent.Close()
//
// # Methods of the client
//
// methods.go is the table of the methods that a client may call; a new method is a line
// there and a handler. [Agent.Request] runs on the connection's read loop, in the order of
// the wire. What depends on that order happens there: a prompt enters the queue, a mode
// changes. The rest happens in the body that the handler returns, on a goroutine of the
// request. So a cancel on the line after a prompt finds that prompt.
//
// # Methods of the agent
//
//	session/update               translator.go: what each event of the transcript sends
//	session/request_permission   permission.go
//	elicitation/create, complete question_form.go, elicitation.go
//	fs/*                         editor.go
//	terminal/*                   terminal.go
//
// A [translator] sends the updates of one session. It consists of an outbox (text, order,
// what waits for the next turn), the cards of tool calls and subagents, and the session's
// state, such as its mode, which is sent when it differs from what the client has. After a
// cancelled turn it sends nothing for a while (quietperiod.go). One question to the
// user is open at a time (questionqueue.go). What differs between editors is a table
// (editors.go).
//
// # Goroutines
//
// One timer for each session, see translator; one goroutine that prepares the first session
// after the answer to initialize, and one for each session that ends. [Agent.Close] waits
// for all of them.
//
// The package imports session, tools, workspace, model, transcript, kinds, acp/schema and
// acp/rpc.
//
// # Requirements
//
// R141, R143, R145-R160, R61, R70, R73, R77-R78, R126.
package v1
