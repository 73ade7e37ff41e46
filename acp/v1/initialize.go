package v1

import (
	"context"
	"encoding/json"

	"acp-agent/acp/rpc"
	"acp-agent/acp/schema"
)

// client is what the client can do. It cannot do what it did not announce.
type client struct {
	readFiles, writeFiles bool
	terminals             bool // terminal/*
	agentTerminals        bool // _meta.terminal_output
	terminalDelta         bool // _meta.terminal_output_delta
	notices               bool // session.notices
	compactions           bool // session.compaction
	forms                 bool // elicitation.form
	addresses             bool // elicitation.url
	subagents             bool // the draft of sessions of subagents
	loginTerminals        bool // auth.terminal
	loginCommands         bool // _meta.terminal-auth, which came before auth.terminal
	traits                     // by the client's name
}

func (a *Agent) initialize(req *rpc.Request) rpc.Body {
	// A client that speaks a newer version may send other shapes. Only its version number is
	// needed; the answer is the latest version that we have.
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
	a.client.traits = traitsOf("")
	if info := params.ClientInfo; info != nil {
		a.client.traits = traitsOf(info.Name)
		a.client.terminals = a.client.terminals && !a.client.traits.blindTerminals
	}
	said := a.client
	a.mu.Unlock()
	return func(context.Context) rpc.Reply { return rpc.Reply{Result: a.capabilities(said), Then: a.warm} }
}

// warm prepares the first session after the answer.
func (a *Agent) warm() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.ended {
		a.background.Go(a.Core.Warm)
	}
}

func clientOf(c schema.ClientCapabilities) client {
	said := client{
		readFiles: c.FS.ReadTextFile, writeFiles: c.FS.WriteTextFile, terminals: c.Terminal,
		agentTerminals: c.Meta["terminal_output"] == true || c.Meta["terminal_output_delta"] == true,
		terminalDelta:  c.Meta["terminal_output_delta"] == true,
	}
	said.loginTerminals, said.loginCommands = c.Auth.Terminal, c.Meta[metaLogin] == true
	if c.Session != nil {
		said.notices, said.compactions = c.Session.Notices != nil, c.Session.Compaction != nil
	}
	said.subagents = c.Subagents != nil
	said.forms = c.Elicitation != nil && c.Elicitation.Form != nil
	said.addresses = c.Elicitation != nil && c.Elicitation.URL != nil
	return said
}

func (a *Agent) capabilities(said client) *schema.InitializeResponse {
	return &schema.InitializeResponse{
		ProtocolVersion: protocolVersion,
		AgentInfo:       &schema.Implementation{Name: "acp-agent", Title: "acp-agent", Version: a.Version},
		AgentCapabilities: schema.AgentCapabilities{
			PromptCapabilities: schema.PromptCapabilities{Image: true, EmbeddedContext: true},
			MCPCapabilities:    schema.McpCapabilities{HTTP: true, SSE: true},
			LoadSession:        true,
			SessionCapabilities: schema.SessionCapabilities{
				List: &schema.SessionListCapabilities{}, Resume: &schema.SessionResumeCapabilities{},
				Fork: &schema.SessionForkCapabilities{}, Delete: &schema.SessionDeleteCapabilities{},
				Close:                 &schema.SessionCloseCapabilities{},
				AdditionalDirectories: &schema.SessionAdditionalDirectoriesCapabilities{},
			},
			Auth: schema.AgentAuthCapabilities{Logout: &schema.LogoutCapabilities{}},
			Meta: metaCancelCall(),
		},
		AuthMethods: a.authMethods(said),
		Meta:        metaSteering(),
	}
}
