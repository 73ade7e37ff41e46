package v1

import (
	"encoding/json"

	"acp-agent/acp/rpc"
	"acp-agent/acp/schema"
)

// requestTable is the table of the requests that a client may send: each method and its handler.
// To add a method, write its handler in a file named after it and add a line here. A handler
// runs on the read loop; the body that it returns runs on a goroutine of the request.
func (a *Agent) requestTable() map[string]func(*rpc.Request) rpc.Body {
	return map[string]func(*rpc.Request) rpc.Body{
		schema.MethodInitialize:             a.initialize,      // initialize.go
		schema.MethodAuthenticate:           a.authenticate,    // auth.go
		schema.MethodLogout:                 a.logout,          // auth.go
		schema.MethodSessionNew:             a.newSession,      // newsession.go
		schema.MethodSessionLoad:            a.loadSession,     // stored.go
		schema.MethodSessionResume:          a.resumeSession,   // stored.go
		schema.MethodSessionList:            a.listSessions,    // stored.go
		methodFork:                          a.forkSession,     // stored.go, a draft
		schema.MethodSessionDelete:          a.deleteSession,   // stored.go
		schema.MethodSessionPrompt:          a.prompt,          // prompt.go
		schema.MethodSessionClose:           a.closeSession,    // newsession.go
		schema.MethodSessionSetMode:         a.setMode,         // modes.go
		schema.MethodSessionSetConfigOption: a.setConfigOption, // modes.go
		methodCancelCall:                    a.cancelCall,      // cancelcall.go, an extension
		methodSteer:                         a.steer,           // steering.go, an extension
	}
}

// notificationTable is the table of the notifications that a client may send. Each runs on the
// read loop. What the agent sends to the client stands in doc.go.
func (a *Agent) notificationTable() map[string]func(params json.RawMessage) {
	return map[string]func(json.RawMessage){
		schema.MethodSessionCancel: a.cancel, // prompt.go
	}
}
