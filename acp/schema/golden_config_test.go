package schema_test

import "acp-agent/acp/schema"

func modes() *schema.SessionModeState {
	return &schema.SessionModeState{
		CurrentModeID:  "ask",
		AvailableModes: []schema.SessionMode{{ID: "ask", Name: "Ask", Description: "asks first"}, {ID: "auto", Name: "Auto"}},
	}
}

func configOptions() []schema.SessionConfigOption {
	return []schema.SessionConfigOption{
		schema.SelectConfigOption{
			ID: "model", Name: "Model", Category: schema.SessionConfigOptionCategoryModel, CurrentValue: "m1",
			Options: schema.SelectGroups{{
				Group: "local", Name: "Local",
				Options: []schema.SessionConfigSelectOption{{Value: "m1", Name: "One", Description: "the first"}},
			}},
		},
		schema.BooleanConfigOption{ID: "thinking", Name: "Thinking", CurrentValue: false},
	}
}

func goldenConfig() []golden {
	choice := schema.SelectConfigOption{
		ID: "mode", Name: "Mode", Description: "how to work", Category: schema.SessionConfigOptionCategoryMode,
		CurrentValue: "ask", Options: schema.SelectOptions{{Value: "ask", Name: "Ask"}}, Meta: note(),
	}
	return []golden{
		{value: *modes()},
		{value: modes().AvailableModes[0]},
		{value: schema.SetSessionModeRequest{SessionID: "s1", ModeID: "auto"}},
		{value: schema.SetSessionModeResponse{}},
		{value: schema.CurrentModeUpdate{CurrentModeID: "auto"}, definition: "SessionUpdate"},
		{value: choice, definition: "SessionConfigOption"},
		{value: configOptions()[1], definition: "SessionConfigOption"},
		{value: schema.SessionConfigSelectOption{Value: "ask", Name: "Ask"}},
		{value: schema.SessionConfigSelectGroup{Group: "g", Name: "Empty"}},
		{value: schema.SetSessionConfigOptionRequest{
			SessionID: "s1", ConfigID: "thinking", Type: "boolean",
			Value: schema.SessionConfigValue{Bool: true, IsBoolean: true},
		}},
		{value: schema.SetSessionConfigOptionResponse{ConfigOptions: configOptions()}},
		{value: schema.ConfigOptionUpdate{}, definition: "SessionUpdate"},
	}
}

func goldenUpdate() []golden {
	const union = "SessionUpdate"
	text := schema.TextContent{Text: "hello"}
	command := schema.AvailableCommand{
		Name: "undo", Description: "takes back", Input: &schema.UnstructuredCommandInput{Hint: "how many"},
	}
	step := schema.PlanEntry{Content: "c", Priority: schema.PlanEntryPriorityHigh, Status: schema.PlanEntryStatusInProgress}
	return []golden{
		{value: schema.SessionNotification{
			SessionID: "s1", Update: schema.AgentMessageChunk{Content: text, MessageID: "m1"}, Meta: note(),
		}},
		{value: schema.UserMessageChunk{Content: text}, definition: union},
		{value: schema.AgentMessageChunk{Content: text, MessageID: "m1"}, definition: union},
		{value: schema.AgentThoughtChunk{Content: text, Meta: note()}, definition: union},
		{value: schema.SessionInfoUpdate{Title: schema.Value("Fix it"), UpdatedAt: schema.Null[string]()}, definition: union},
		{value: schema.UsageUpdate{Used: 10, Size: 200, Cost: &schema.Cost{Amount: 0.25, Currency: "USD"}}, definition: union},
		{value: schema.Cost{Amount: 0, Currency: "EUR"}},
		{value: schema.AvailableCommandsUpdate{AvailableCommands: []schema.AvailableCommand{command}}, definition: union},
		{value: command},
		{value: *command.Input},
		{value: schema.Plan{Entries: []schema.PlanEntry{step}}, definition: union},
		{value: step},
		{value: schema.Notice{Severity: schema.NoticeSeverityWarning, Title: "Slow", Description: "why"}, definition: union},
		{value: schema.CompactionUpdate{
			CompactionID: "c1", Status: schema.CompactionStatusFailed, Error: new(""), Summary: []schema.ContentBlock{},
		}, definition: union},
		{value: schema.CompactionSummaryChunk{CompactionID: "c1", Content: text}, definition: union},
	}
}
