// Package v1 serves version 1 of the Agent Client Protocol over one
// connection: methods in, transcript events out as session/update, and the
// editor's files, terminals and permission requests as implementations of the
// core's interfaces. It translates and holds no truth of its own.
//
// How a request is served: [Agent.Request] runs on the connection's read loop,
// in wire order. Whatever must be in order happens there (a prompt takes its
// place in the queue, a mode is changed); the rest happens in the body it
// returns, on a goroutine of the request. So a cancel that arrives right
// behind a prompt finds it.
//
//	agent := v1.New(v1.Options{Core: core, Version: "0.1.0"})
//	conn := rpc.New(stdin, stdout, agent, rpc.Options{})
//	agent.Connect(conn)
//	err := conn.Run(ctx)
//	agent.Close()
//
// What is true of a session (fact.go) is sent when its value differs from the one that the
// client has, and waits for a quiet to end (quiet.go). All questions to the user stand in one
// line (line.go). What an editor would drop between turns waits for the next one (late.go).
//
// It imports session, tools, workspace, model, transcript, kinds, acp/schema
// and acp/rpc. Goroutines: one timer a session, see translator; the one that
// prepares the first session behind initialize, and those that end sessions
// side by side, all of which [Agent.Close] waits for.
//
// # Requirements
//
// R143, R145-R147, R149-R160, R61, R70, R73, R77-R78, R126.
package v1
