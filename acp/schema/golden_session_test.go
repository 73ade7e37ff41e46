package schema_test

import "acp-agent/acp/schema"

func goldenInitialize() []golden {
	client := schema.ClientCapabilities{
		FS:       schema.FileSystemCapabilities{ReadTextFile: true, WriteTextFile: true},
		Terminal: true,
		Auth:     schema.AuthCapabilities{Terminal: true},
		Session: &schema.ClientSessionCapabilities{
			Compaction:    &schema.CompactionCapabilities{},
			ConfigOptions: &schema.SessionConfigOptionsCapabilities{Boolean: &schema.BooleanConfigOptionCapabilities{}},
			Notices:       &schema.NoticeCapabilities{},
		},
		Elicitation: &schema.ElicitationCapabilities{
			Form: &schema.ElicitationFormCapabilities{}, URL: &schema.ElicitationUrlCapabilities{},
		},
		Meta: map[string]any{"terminal_output": true},
	}
	agent := schema.AgentCapabilities{
		LoadSession:        true,
		PromptCapabilities: schema.PromptCapabilities{Image: true, Audio: true, EmbeddedContext: true},
		MCPCapabilities:    schema.McpCapabilities{HTTP: true, SSE: true},
		SessionCapabilities: schema.SessionCapabilities{
			List: &schema.SessionListCapabilities{}, Fork: &schema.SessionForkCapabilities{}, Delete: &schema.SessionDeleteCapabilities{},
			AdditionalDirectories: &schema.SessionAdditionalDirectoriesCapabilities{},
			Resume:                &schema.SessionResumeCapabilities{}, Close: &schema.SessionCloseCapabilities{},
		},
		Auth: schema.AgentAuthCapabilities{Logout: &schema.LogoutCapabilities{}},
	}
	about := schema.Implementation{Name: "acp-agent", Title: "Agent", Version: "1.0.0", Meta: note()}
	byTerminal := schema.AuthMethodTerminal{
		ID: "setup", Name: "Set up", Description: "asks for a key",
		Args: []string{"auth", "login"}, Env: map[string]string{"NO_COLOR": "1"},
	}
	byAgent := schema.AuthMethodAgent{ID: "env", Name: "Key from the environment", Description: "reads it"}
	return []golden{
		{value: schema.InitializeRequest{ProtocolVersion: 1, ClientCapabilities: client, ClientInfo: &about}},
		{value: schema.InitializeResponse{
			ProtocolVersion: 1, AgentCapabilities: agent, AgentInfo: &about,
			AuthMethods: []schema.AuthMethod{byAgent, byTerminal},
		}},
		{value: about},
		{value: client},
		{value: client.FS},
		{value: client.Auth},
		{value: *client.Session},
		{value: *client.Session.Compaction},
		{value: *client.Session.Notices},
		{value: *client.Session.ConfigOptions},
		{value: *client.Session.ConfigOptions.Boolean},
		{value: *client.Elicitation},
		{value: *client.Elicitation.Form},
		{value: *client.Elicitation.URL},
		{value: agent},
		{value: agent.PromptCapabilities},
		{value: agent.MCPCapabilities},
		{value: agent.SessionCapabilities},
		{value: *agent.SessionCapabilities.List},
		{value: *agent.SessionCapabilities.Delete},
		{value: *agent.SessionCapabilities.Fork, draft: true},
		{value: *agent.SessionCapabilities.AdditionalDirectories},
		{value: *agent.SessionCapabilities.Resume},
		{value: *agent.SessionCapabilities.Close},
		{value: agent.Auth},
		{value: *agent.Auth.Logout},
		{value: byAgent, definition: "AuthMethod"},
		{value: byTerminal, definition: "AuthMethod"},
		{value: schema.AuthenticateRequest{MethodID: "env", Meta: note()}},
		{value: schema.AuthenticateResponse{}},
		{value: schema.LogoutRequest{}},
		{value: schema.LogoutResponse{Meta: note()}},
	}
}

func goldenSession() []golden {
	stdio := schema.McpServerStdio{
		Name: "files", Command: "/bin/files", Args: []string{"--root", "/p"},
		Env: []schema.EnvVariable{{Name: "A", Value: "1"}},
	}
	http := schema.McpServerHttp{
		Name: "web", URL: "https://example.com/mcp", Headers: []schema.HttpHeader{{Name: "X-A", Value: "b"}},
	}
	sse := schema.McpServerSse{Name: "old", URL: "https://example.com/sse"}
	servers := []schema.McpServer{stdio, http, sse}
	more := []string{"/other"}
	info := schema.SessionInfo{
		SessionID: "s1", Cwd: "/p", AdditionalDirectories: more, Title: "Fix it", UpdatedAt: "2026-11-21T10:00:00Z",
	}
	return []golden{
		{value: schema.NewSessionRequest{Cwd: "/p", MCPServers: servers, AdditionalDirectories: more}},
		{value: schema.NewSessionResponse{SessionID: "s1", Modes: modes(), ConfigOptions: configOptions()}},
		{value: schema.LoadSessionRequest{SessionID: "s1", Cwd: "/p"}},
		{value: schema.LoadSessionResponse{Modes: modes()}},
		{value: schema.ResumeSessionRequest{SessionID: "s1", Cwd: "/p"}},
		{value: schema.ResumeSessionResponse{ConfigOptions: []schema.SessionConfigOption{}}},
		{value: schema.CloseSessionRequest{SessionID: "s1"}},
		{value: schema.CloseSessionResponse{}},
		{value: schema.ListSessionsRequest{Cwd: new("/p"), Cursor: new("")}},
		{value: schema.ListSessionsResponse{Sessions: []schema.SessionInfo{info}, NextCursor: "c2"}},
		{value: info},
		{value: schema.DeleteSessionRequest{SessionID: "s1"}},
		{value: schema.DeleteSessionResponse{}},
		{value: stdio, definition: "McpServer"},
		{value: http, definition: "McpServer"},
		{value: sse, definition: "McpServer"},
		{value: stdio.Env[0]},
		{value: http.Headers[0]},
		{value: schema.PromptRequest{SessionID: "s1", Prompt: []schema.ContentBlock{schema.TextContent{Text: "a <b> & c"}}}},
		{value: schema.PromptResponse{StopReason: schema.StopReasonEndTurn, Usage: &schema.Usage{TotalTokens: 3}}},
		{value: schema.Usage{TotalTokens: 3, InputTokens: 2, OutputTokens: 1, ThoughtTokens: new(uint64(0))}, definition: "-"},
		{value: schema.CancelNotification{SessionID: "s1"}},
		{value: schema.CancelRequestNotification{RequestID: `-5`}},
	}
}
