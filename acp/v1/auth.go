package v1

import (
	"context"

	"acp-agent/acp/rpc"
	"acp-agent/acp/schema"
)

// The ids of the ways to authenticate.
const (
	authMethod  = "api-key"
	loginMethod = "login"
)

// metaLogin is the key of _meta for a login in a terminal, which clients have used since
// before the protocol had a type for it: true in a client's capabilities, the command in the
// method.
const metaLogin = "terminal-auth"

// Login is how a client runs the login in a terminal.
type Login struct {
	// Command is the program and Args its arguments. Without a command no login is offered.
	Command string
	Args    []string
	// Env are variables that decide where a login is stored.
	Env map[string]string
}

// authMethods are the ways to authenticate that a client can use. The first is one that every
// client can use, because some clients use the first without asking.
func (a *Agent) authMethods(said client) []schema.AuthMethod {
	methods := []schema.AuthMethod{schema.AuthMethodAgent{
		ID: authMethod, Name: "API key",
		Description: "Uses the key of the environment, the configuration file or acp-agent login; a local server needs no key.",
	}}
	const name, description = "Log in in a terminal", "Asks for the model server and its key, tests them and stores them."
	switch {
	case a.Login.Command == "":
	case said.loginTerminals:
		methods = append(methods, schema.AuthMethodTerminal{
			ID: loginMethod, Name: name, Description: description, Args: a.Login.Args, Meta: a.loginMeta(said),
		})
	case said.loginCommands:
		methods = append(methods, schema.AuthMethodAgent{
			ID: loginMethod, Name: name, Description: description, Meta: a.loginMeta(said),
		})
	}
	return methods
}

// loginMeta is the _meta with the command of the login, for clients that read it.
func (a *Agent) loginMeta(said client) map[string]any {
	if !said.loginCommands {
		return nil
	}
	env := map[string]any{}
	for name, value := range a.Login.Env {
		env[name] = value
	}
	return map[string]any{metaLogin: map[string]any{
		"label": "acp-agent login", "command": a.Login.Command, "args": a.Login.Args, "env": env,
	}}
}

func (a *Agent) authenticate(req *rpc.Request) rpc.Body {
	var params schema.AuthenticateRequest
	if err := decode(req, &params); err != nil {
		return fail(err)
	}
	// A client that has run the login may name it; Authenticate reads what the login stored.
	if id := string(params.MethodID); id != authMethod && id != loginMethod {
		return fail(rpc.Errorf(rpc.CodeInvalidParams, "authenticate: unknown method %q; the method is %q", params.MethodID, authMethod))
	}
	return func(ctx context.Context) rpc.Reply {
		return rpc.Reply{Result: &schema.AuthenticateResponse{}, Err: wireError(a.Core.Authenticate(ctx, keyOf(params.Meta)))}
	}
}

// keyOf reads a key that the client passes in _meta["api-key"].apiKey.
func keyOf(meta map[string]any) string {
	entry, _ := meta[authMethod].(map[string]any)
	key, _ := entry["apiKey"].(string)
	return key
}

func (a *Agent) logout(*rpc.Request) rpc.Body {
	a.Core.Logout() // at once, because the next line may open a session
	return func(ctx context.Context) rpc.Reply {
		return rpc.Reply{Result: &schema.LogoutResponse{}, Err: wireError(a.Core.Forget(ctx))}
	}
}
