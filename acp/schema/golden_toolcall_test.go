package schema_test

import (
	"encoding/json"

	"acp-agent/acp/schema"
)

func goldenToolCall() []golden {
	diff := schema.Diff{Path: "/p/a.go", OldText: new(""), NewText: "package a\n"}
	text := schema.Content{Content: schema.TextContent{Text: "done"}}
	terminal := schema.Terminal{TerminalID: "t1"}
	place := schema.ToolCallLocation{Path: "/p/a.go", Line: new(uint32(0))}
	change := schema.ToolCallUpdate{
		ToolCallID: "c1", Title: new("Read a.go"), Status: schema.ToolCallStatusCompleted,
		Content: []schema.ToolCallContent{}, RawOutput: json.RawMessage(`{"n":[1,2]}`),
	}
	option := schema.PermissionOption{OptionID: "o1", Name: "Allow", Kind: schema.PermissionOptionKindAllowOnce}
	selected := schema.SelectedPermissionOutcome{OptionID: "o1"}
	return []golden{
		{value: schema.ToolCall{
			ToolCallID: "c1", Title: "Edit a.go", Name: "edit_file", Kind: schema.ToolKindEdit,
			Status: schema.ToolCallStatusPending, Content: []schema.ToolCallContent{diff, text, terminal},
			Locations: []schema.ToolCallLocation{place}, RawInput: json.RawMessage(`{"path":"/p/a.go"}`), Meta: note(),
		}, definition: "SessionUpdate"},
		{value: change},
		{value: schema.SessionToolCallUpdate{ToolCallUpdate: change}, definition: "SessionUpdate"},
		{value: place},
		{value: diff, definition: "ToolCallContent"},
		{value: text, definition: "ToolCallContent"},
		{value: terminal, definition: "ToolCallContent"},
		{value: schema.RequestPermissionRequest{
			SessionID: "s1", ToolCall: change, Options: []schema.PermissionOption{option},
		}},
		{value: schema.RequestPermissionResponse{Outcome: selected}},
		{value: option},
		{value: selected, definition: "RequestPermissionOutcome"},
		{value: schema.CancelledPermissionOutcome{}, definition: "RequestPermissionOutcome"},
	}
}

// goldenClient holds the methods that a client serves.
func goldenClient() []golden {
	exit := schema.TerminalExitStatus{ExitCode: new(uint32(0))}
	return []golden{
		{value: schema.ReadTextFileRequest{SessionID: "s1", Path: "/p/a.go", Line: new(uint32(1)), Limit: new(uint32(0))}},
		{value: schema.ReadTextFileResponse{Content: "a\n"}},
		{value: schema.WriteTextFileRequest{SessionID: "s1", Path: "/p/a.go", Content: ""}},
		{value: schema.WriteTextFileResponse{}},
		{value: schema.CreateTerminalRequest{
			SessionID: "s1", Command: "make", Args: []string{"test"}, Env: []schema.EnvVariable{{Name: "A", Value: ""}},
			Cwd: new("/p"), OutputByteLimit: new(uint64(1 << 20)),
		}},
		{value: schema.CreateTerminalResponse{TerminalID: "t1"}},
		{value: schema.TerminalOutputRequest{SessionID: "s1", TerminalID: "t1"}},
		{value: schema.TerminalOutputResponse{Output: "ok\n", ExitStatus: &exit}},
		{value: exit},
		{value: schema.WaitForTerminalExitRequest{SessionID: "s1", TerminalID: "t1"}},
		{value: schema.WaitForTerminalExitResponse{Signal: "SIGKILL"}},
		{value: schema.KillTerminalRequest{SessionID: "s1", TerminalID: "t1"}},
		{value: schema.KillTerminalResponse{}},
		{value: schema.ReleaseTerminalRequest{SessionID: "s1", TerminalID: "t1"}},
		{value: schema.ReleaseTerminalResponse{}},
	}
}

func goldenElicitation() []golden {
	const union = "ElicitationPropertySchema"
	choice := schema.EnumOption{Const: "a", Title: "A", Description: "the first"}
	titled := schema.TitledMultiSelectItems{AnyOf: []schema.EnumOption{choice}}
	fields := map[string]schema.ElicitationPropertySchema{
		"text": schema.StringPropertySchema{
			Title: "Name", MinLength: new(uint32(1)), Pattern: new("^a"), Format: schema.StringFormatEmail, Default: new(""),
		},
		"one":   schema.StringPropertySchema{OneOf: []schema.EnumOption{choice}},
		"float": schema.NumberPropertySchema{Minimum: new(0.5), Default: new(1.0)},
		"whole": schema.IntegerPropertySchema{Maximum: new(int64(9)), Default: new(int64(0))},
		"yes":   schema.BooleanPropertySchema{Default: new(false)},
		"some":  schema.MultiSelectPropertySchema{Items: titled, MinItems: new(uint64(0)), Default: []string{"a"}},
	}
	form := schema.ElicitationSchema{Title: "Form", Properties: fields, Required: []string{"one"}}
	return []golden{
		{value: schema.CreateElicitationRequest{
			Mode: schema.ElicitationModeForm, Message: "Which?", SessionID: "s1", ToolCallID: "c1", RequestedSchema: &form,
		}},
		{value: schema.CreateElicitationResponse{
			Action: schema.ElicitationActionAccept,
			Content: map[string]schema.ElicitationContentValue{
				"a": {Value: "x"}, "b": {Value: true}, "c": {Value: json.Number("1.5")}, "d": {Value: []string{"y", "z"}},
			},
		}},
		{value: schema.CompleteElicitationNotification{ElicitationID: "e1"}},
		{value: form},
		{value: fields["text"], definition: union},
		{value: fields["float"], definition: union},
		{value: fields["whole"], definition: union},
		{value: fields["yes"], definition: union},
		{value: fields["some"], definition: union},
		{value: titled, definition: "MultiSelectItems"},
		{value: schema.StringMultiSelectItems{Enum: []string{"a"}}, definition: "MultiSelectItems"},
		{value: choice},
	}
}

func goldenContent() []golden {
	const union = "ContentBlock"
	advice := schema.Annotations{
		Audience: []schema.Role{schema.RoleUser}, LastModified: "2026-11-21T10:00:00Z", Priority: new(0.0),
	}
	script := schema.TextResourceContents{URI: "file:///p/a", Text: "x", MimeType: "text/plain"}
	return []golden{
		{value: schema.TextContent{Text: "a\u2028<b>\"\n", Annotations: &advice, Meta: note()}, definition: union},
		{value: schema.ImageContent{Data: "QUJD", MimeType: "image/png", URI: "file:///p/i.png"}, definition: union},
		{value: schema.AudioContent{Data: "QUJD", MimeType: "audio/wav"}, definition: union},
		{value: schema.ResourceLink{Name: "a", URI: "file:///p/a", Size: new(int64(0)), Title: "A", Description: "d"}, definition: union},
		{value: schema.EmbeddedResource{Resource: script}, definition: union},
		{value: script},
		{value: schema.BlobResourceContents{URI: "file:///p/b", Blob: "QUJD"}},
		{value: advice},
	}
}
