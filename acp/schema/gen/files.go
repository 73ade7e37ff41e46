package main

// files says which definitions go into which file, and in which order. A definition that
// is needed and stands nowhere here stops the generator.
var files = map[string][]string{
	"initialize": {
		"InitializeRequest", "InitializeResponse", "ProtocolVersion", "Implementation",
	},
	"capabilities": {
		"AgentCapabilities", "PromptCapabilities", "McpCapabilities", "AgentAuthCapabilities", "LogoutCapabilities",
		"SessionCapabilities", "SessionListCapabilities", "SessionDeleteCapabilities",
		"SessionAdditionalDirectoriesCapabilities", "SessionResumeCapabilities", "SessionCloseCapabilities", "SessionForkCapabilities",
	},
	"clientcapabilities": {
		"ClientCapabilities", "FileSystemCapabilities", "ClientSessionCapabilities", "SessionConfigOptionsCapabilities",
		"BooleanConfigOptionCapabilities", "NoticeCapabilities", "CompactionCapabilities", "AuthCapabilities",
		"ElicitationCapabilities", "ElicitationFormCapabilities", "ElicitationUrlCapabilities", "SubagentCapabilities",
	},
	"auth": {
		"AuthenticateRequest", "AuthenticateResponse", "LogoutRequest", "LogoutResponse",
		"AuthMethod", "AuthMethodId", "AuthMethodAgent", "AuthMethodTerminal",
	},
	"session": {
		"SessionId", "NewSessionRequest", "NewSessionResponse", "LoadSessionRequest", "LoadSessionResponse",
		"ResumeSessionRequest", "ResumeSessionResponse", "CloseSessionRequest", "CloseSessionResponse",
	},
	"sessionlist": {
		"ListSessionsRequest", "ListSessionsResponse", "SessionInfo", "DeleteSessionRequest", "DeleteSessionResponse",
	},
	"mcpserver": {
		"McpServer", "McpServerStdio", "McpServerHttp", "McpServerSse", "EnvVariable", "HttpHeader",
	},
	"mode": {
		"SessionModeState", "SessionMode", "SessionModeId", "SetSessionModeRequest", "SetSessionModeResponse",
		"CurrentModeUpdate",
	},
	"config": {
		"SessionConfigOption", "SessionConfigOptionCategory", "SessionConfigId", "SessionConfigValueId",
		"SessionConfigGroupId", "SessionConfigSelectOption", "SessionConfigSelectGroup",
		"SetSessionConfigOptionRequest", "SetSessionConfigOptionResponse", "ConfigOptionUpdate",
	},
	"prompt": {
		"PromptRequest", "PromptResponse", "StopReason", "Usage", "CancelNotification", "CancelRequestNotification",
	},
	"update": {
		"SessionNotification", "SessionUpdate", "MessageId", "SessionInfoUpdate", "UsageUpdate", "Cost",
		"AvailableCommandsUpdate", "AvailableCommand", "AvailableCommandInput", "UnstructuredCommandInput",
	},
	"plan": {
		"Plan", "PlanEntry", "PlanEntryPriority", "PlanEntryStatus",
	},
	"notice": {
		"Notice", "NoticeSeverity", "CompactionUpdate", "CompactionSummaryChunk", "CompactionId", "CompactionStatus",
	},
	"subagent": {
		"SubagentUpdate", "SubagentSessionCapabilities", "SessionCancelCapabilities", "SessionMessage",
	},
	"toolcall": {
		"ToolCall", "ToolCallUpdate", "ToolCallId", "ToolKind", "ToolCallStatus", "ToolCallLocation",
		"ToolCallContent", "Content", "Diff", "Terminal",
	},
	"permission": {
		"RequestPermissionRequest", "RequestPermissionResponse", "PermissionOption", "PermissionOptionId",
		"PermissionOptionKind", "RequestPermissionOutcome", "SelectedPermissionOutcome",
	},
	"fs": {
		"ReadTextFileRequest", "ReadTextFileResponse", "WriteTextFileRequest", "WriteTextFileResponse",
	},
	"terminal": {
		"TerminalId", "CreateTerminalRequest", "CreateTerminalResponse", "TerminalOutputRequest",
		"TerminalOutputResponse", "TerminalExitStatus", "WaitForTerminalExitRequest", "WaitForTerminalExitResponse",
		"KillTerminalRequest", "KillTerminalResponse", "ReleaseTerminalRequest", "ReleaseTerminalResponse",
	},
	"elicitation": {
		"CreateElicitationRequest", "CreateElicitationResponse", "ElicitationId", "CompleteElicitationNotification",
		"ElicitationSchema", "ElicitationSchemaType",
	},
	"elicitationfield": {
		"ElicitationPropertySchema", "StringPropertySchema", "StringFormat", "NumberPropertySchema",
		"IntegerPropertySchema", "BooleanPropertySchema", "MultiSelectPropertySchema", "MultiSelectItems",
		"StringMultiSelectItems", "TitledMultiSelectItems", "EnumOption",
	},
	"content": {
		"ContentBlock", "TextContent", "ImageContent", "AudioContent", "ResourceLink", "EmbeddedResource",
		"EmbeddedResourceResource", "TextResourceContents", "BlobResourceContents", "Annotations", "Role",
	},
}
