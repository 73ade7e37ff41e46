package main

// unstable lists the parts of the unstable schema that are generated besides the stable
// one: whole definitions, single fields of others, and single variants of unions, by the
// value of their discriminator. This is the one place to widen.
// Nothing of it may be sent to a peer that did not ask for it.
var unstable = []string{
	"Usage",
	"PromptResponse.usage",
	"SubagentCapabilities",
	"ClientCapabilities.subagents",
	"SubagentUpdate",
	"SubagentSessionCapabilities",
	"SessionCancelCapabilities",
	"SessionUpdate.subagent_update",
	"SessionMessage",
	"SessionUpdate.session_message",
	"SessionForkCapabilities",
	"SessionCapabilities.fork",
}

// skipped lists definitions that get no type: acp/rpc speaks the envelope.
var skipped = []string{
	"AgentNotification", "AgentRequest", "AgentResponse",
	"ClientNotification", "ClientRequest", "ClientResponse",
	"ExtNotification", "ExtRequest", "ExtResponse",
	"Error", "ErrorCode",
}

// byHand gives definitions whose Go type is written by hand, and their decoders.
var byHand = map[string]resolved{
	"RequestId":                  {"RequestId", "record[RequestId]", shapeStruct},
	"ElicitationContentValue":    {"ElicitationContentValue", "record[ElicitationContentValue]", shapeStruct},
	"SessionConfigSelectOptions": {"SessionConfigSelectOptions", "decodeSessionConfigSelectOptions", shapeUnion},
	"StateUpdate":                {"SubagentState", "record[SubagentState]", shapeStruct},
}

// fieldTypes gives the type of fields which differ between the variants of a union that
// becomes one struct.
var fieldTypes = map[string]resolved{
	"SetSessionConfigOptionRequest.value": {"SessionConfigValue", "record[SessionConfigValue]", shapeStruct},
	"SetSessionConfigOptionRequest.type":  {"string", "text[string]", shapeText},
}

// discriminators names the types of the fields that tell apart the variants of a union
// that becomes one struct.
var discriminators = map[string]string{
	"CreateElicitationRequest.mode":    "ElicitationMode",
	"CreateElicitationResponse.action": "ElicitationAction",
}

// pointers lists optional strings for which empty and absent are different things.
var pointers = []string{
	"CompactionUpdate.error",       // absent keeps the error
	"CreateTerminalRequest.cwd",    // absent is the session's
	"Diff.oldText",                 // an empty file is not a new one
	"ListSessionsRequest.cursor",   // an empty cursor is a bad one
	"ListSessionsRequest.cwd",      // an empty path is a bad one
	"StringPropertySchema.default", // a default may be empty
	"StringPropertySchema.pattern", // an empty pattern matches all
	"ToolCallUpdate.title",         // absent keeps the title
}

// patches lists optional fields whose null clears what was sent before.
var patches = []string{
	"SessionInfoUpdate.title", "SessionInfoUpdate.updatedAt", "SubagentUpdate.title", "SubagentUpdate.description",
}

// always lists optional arrays that are written even if empty, because peers expect
// them.
var always = []string{"InitializeResponse.authMethods"}

// strict lists arrays of objects of which no element may be skipped: what a user wrote
// must not vanish without a word.
var strict = []string{"PromptRequest.prompt"}

// synonyms gives discriminators that some peers write where the schema has none.
var synonyms = map[string]string{"McpServer": "stdio", "AuthMethod": "agent"}

// variantNames names variants that have no definition of their own.
var variantNames = map[string]string{
	"SessionUpdate.user_message_chunk":   "UserMessageChunk",
	"SessionUpdate.agent_message_chunk":  "AgentMessageChunk",
	"SessionUpdate.agent_thought_chunk":  "AgentThoughtChunk",
	"SessionUpdate.tool_call_update":     "SessionToolCallUpdate",
	"RequestPermissionOutcome.cancelled": "CancelledPermissionOutcome",
	"SessionConfigOption.select":         "SelectConfigOption",
	"SessionConfigOption.boolean":        "BooleanConfigOption",
}
