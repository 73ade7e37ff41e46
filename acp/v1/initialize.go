package v1

import (
	"context"
	"encoding/json"

	"acp-agent/acp/rpc"
	"acp-agent/acp/schema"
)

// client is what the client said it can do. What it did not say, it cannot.
type client struct {
	readFiles, writeFiles bool
	terminals             bool // terminal/*
	agentTerminals        bool // _meta.terminal_output
	terminalDelta         bool // _meta.terminal_output_delta
	notices               bool // session.notices
	forms                 bool // elicitation.form
	addresses             bool // elicitation.url
	subagents             bool // the draft of sessions of subagents
	traits                     // by the client's name
}

func (a *Agent) initialize(req *rpc.Request) rpc.Body {
	// A client that speaks a newer version may send other shapes; only the
	// version number is needed of it, and it gets the latest we have.
	var version struct {
		ProtocolVersion *json.Number `json:"protocolVersion"`
	}
	if err := json.Unmarshal(req.Params, &version); err != nil || version.ProtocolVersion == nil {
		return fail(rpc.Errorf(rpc.CodeInvalidParams, "initialize: protocolVersion must be a number"))
	}
	var params schema.InitializeRequest
	if err := schema.Decode(req.Params, &params); err != nil && version.ProtocolVersion.String() == "1" {
		return fail(badParams(req, err))
	}
	a.mu.Lock()
	a.initialized, a.client = true, clientOf(params.ClientCapabilities)
	if info := params.ClientInfo; info != nil {
		a.client.traits = traitsOf(info.Name)
	}
	a.mu.Unlock()
	return func(context.Context) rpc.Reply { return rpc.Reply{Result: a.capabilities(), Then: a.warm} }
}

// warm prepares the first session behind the answer.
func (a *Agent) warm() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.ended {
		a.warming.Go(a.Core.Warm)
	}
}

func clientOf(c schema.ClientCapabilities) client {
	said := client{
		readFiles: c.FS.ReadTextFile, writeFiles: c.FS.WriteTextFile, terminals: c.Terminal,
		agentTerminals: c.Meta["terminal_output"] == true || c.Meta["terminal_output_delta"] == true,
		terminalDelta:  c.Meta["terminal_output_delta"] == true,
	}
	if c.Session != nil {
		said.notices = c.Session.Notices != nil
	}
	said.subagents = c.Subagents != nil
	said.forms = c.Elicitation != nil && c.Elicitation.Form != nil
	said.addresses = c.Elicitation != nil && c.Elicitation.URL != nil
	return said
}

// authMethod is the id of the one way to authenticate.
const authMethod = "api-key"

func (a *Agent) capabilities() *schema.InitializeResponse {
	return &schema.InitializeResponse{
		ProtocolVersion: protocolVersion,
		AgentInfo:       &schema.Implementation{Name: "acp-agent", Title: "acp-agent", Version: a.Version},
		AgentCapabilities: schema.AgentCapabilities{
			PromptCapabilities: schema.PromptCapabilities{Image: true, EmbeddedContext: true},
			MCPCapabilities:    schema.McpCapabilities{HTTP: true, SSE: true},
			SessionCapabilities: schema.SessionCapabilities{
				Close:                 &schema.SessionCloseCapabilities{},
				AdditionalDirectories: &schema.SessionAdditionalDirectoriesCapabilities{},
			},
			Auth: schema.AgentAuthCapabilities{Logout: &schema.LogoutCapabilities{}},
			Meta: metaCancelCall(),
		},
		AuthMethods: []schema.AuthMethod{schema.AuthMethodAgent{
			ID: authMethod, Name: "API key",
			Description: "Uses OPENAI_API_KEY, OPENAI_BASE_URL or the configuration file; a local server needs no key.",
		}},
	}
}

func (a *Agent) authenticate(req *rpc.Request) rpc.Body {
	var params schema.AuthenticateRequest
	if err := decode(req, &params); err != nil {
		return fail(err)
	}
	if string(params.MethodID) != authMethod {
		return fail(rpc.Errorf(rpc.CodeInvalidParams, "authenticate: unknown method %q; the method is %q", params.MethodID, authMethod))
	}
	return func(ctx context.Context) rpc.Reply {
		return rpc.Reply{Result: &schema.AuthenticateResponse{}, Err: wireError(a.Core.Authenticate(ctx, keyOf(params.Meta)))}
	}
}

// keyOf reads a key that the client passes along: _meta["api-key"].apiKey.
func keyOf(meta map[string]any) string {
	entry, _ := meta[authMethod].(map[string]any)
	key, _ := entry["apiKey"].(string)
	return key
}

func (a *Agent) logout(*rpc.Request) rpc.Body {
	a.Core.Logout()
	return answer(&schema.LogoutResponse{})
}
