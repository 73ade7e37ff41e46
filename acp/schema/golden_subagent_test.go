package schema_test

import "acp-agent/acp/schema"

func goldenSubagent() []golden {
	const union = "SessionUpdate"
	failed := schema.SubagentState{
		State: schema.SubagentIdle, StopReason: schema.StopError, Error: &schema.SubagentError{Code: -32603, Message: "why"}, Meta: note(),
	}
	can := schema.SubagentSessionCapabilities{Cancel: &schema.SessionCancelCapabilities{Meta: note()}}
	return []golden{
		{value: schema.SubagentCapabilities{Meta: note()}, draft: true},
		{value: can, draft: true},
		{value: *can.Cancel, draft: true},
		{value: schema.SubagentUpdate{
			SessionID: "s2", Title: schema.Value("explore"), Description: schema.Null[string](), Capabilities: &can, State: &failed,
			Cwd: "/w", AdditionalDirectories: []string{"/v"},
		}, definition: union, draft: true},
		{value: schema.SessionMessage{
			MessageID: "m1", SenderSessionID: "s1", RecipientSessionID: "s2", SenderMessageID: "m2", RecipientMessageID: "m3",
			Content: []schema.ContentBlock{schema.TextContent{Text: "look"}},
		}, definition: union, draft: true},
	}
}
