package main

import "fmt"

// describe returns the rest of a type's doc comment, in our own words.
func describe(name string, n *node) string {
	if text := docs[name]; text != "" {
		return text
	}
	if n != nil && n.Method != "" {
		return fmt.Sprintf("is the %s `%s`.", role(name), n.Method)
	}
	return "is the protocol's type of that name."
}

// role says what a message type is to its method.
func role(name string) string {
	switch {
	case isNotification(name):
		return "parameter object of the notification"
	case hasSuffix(name, "Response"):
		return "result of"
	default:
		return "parameter object of"
	}
}

var docs = map[string]string{
	"AgentAuthCapabilities":            "says what an agent can do about signing in and out.",
	"AgentCapabilities":                "says what an agent can do; what is left out, it cannot.",
	"Annotations":                      "advises how to treat a piece of content.",
	"AudioContent":                     "is sound, base64-encoded.",
	"AuthCapabilities":                 "says which ways of signing in a client can carry out.",
	"AuthMethod":                       "is one way of signing in.",
	"AuthMethodAgent":                  "is a way of signing in that the agent handles by itself.",
	"AuthMethodId":                     "identifies a way of signing in.",
	"AuthMethodTerminal":               "is a way of signing in by running the agent in a terminal, with these arguments added.",
	"AvailableCommand":                 "is a slash command; its name has no slash.",
	"AvailableCommandInput":            "says what follows the name of a command.",
	"AvailableCommandsUpdate":          "replaces the slash commands on offer.",
	"AgentMessageChunk":                "is a piece of what the agent says.",
	"AgentThoughtChunk":                "is a piece of what the model thinks.",
	"BlobResourceContents":             "is the contents of a binary resource, base64-encoded.",
	"BooleanConfigOption":              "is a switch.",
	"BooleanConfigOptionCapabilities":  "says that a client shows switches.",
	"BooleanPropertySchema":            "is a yes-or-no field of a form.",
	"CancelledPermissionOutcome":       "says that the turn was cancelled before anyone decided.",
	"ClientCapabilities":               "says what a client can do; what is left out, it cannot.",
	"ClientSessionCapabilities":        "says which parts of a session a client can show.",
	"CompactionCapabilities":           "says that a client shows compactions.",
	"CompactionId":                     "identifies a compaction within its session.",
	"CompactionStatus":                 "is how far a compaction has got; more values may come.",
	"CompactionSummaryChunk":           "is a piece of the summary that a compaction writes.",
	"CompactionUpdate":                 "tells of a compaction; what is absent stays as it was.",
	"ConfigOptionUpdate":               "replaces the configuration options.",
	"Content":                          "is content that a tool call shows.",
	"ContentBlock":                     "is a piece of a message.",
	"Cost":                             "is an amount of money.",
	"CurrentModeUpdate":                "says which mode the session is in now.",
	"Diff":                             "is a change of a file: whole texts, before (nil with a new file) and after.",
	"ElicitationAction":                "is what a user did with a question; any unknown value is not consent.",
	"ElicitationCapabilities":          "says in which ways a client can ask a user.",
	"ElicitationFormCapabilities":      "says that a client shows forms.",
	"ElicitationId":                    "identifies a question that is answered at a URL.",
	"ElicitationMode":                  "is the way in which a user is asked.",
	"ElicitationPropertySchema":        "is one field of a form.",
	"ElicitationSchema":                "is a form: a flat object of fields.",
	"ElicitationUrlCapabilities":       "says that a client opens URLs.",
	"EmbeddedResource":                 "is a resource with its contents.",
	"EmbeddedResourceResource":         "is the contents of a resource.",
	"EnumOption":                       "is one choice of a form field.",
	"EnvVariable":                      "is an environment variable.",
	"FileSystemCapabilities":           "says which file methods a client serves.",
	"HttpHeader":                       "is an HTTP header.",
	"ImageContent":                     "is an image, base64-encoded.",
	"Implementation":                   "is the name and version of a program.",
	"IntegerPropertySchema":            "is a field of a form for a whole number.",
	"LogoutCapabilities":               "says that an agent serves `logout`.",
	"McpCapabilities":                  "says over which transports an agent reaches MCP servers.",
	"McpServer":                        "says how to reach an MCP server.",
	"McpServerHttp":                    "is an MCP server behind HTTP.",
	"McpServerSse":                     "is an MCP server behind server-sent events.",
	"McpServerStdio":                   "is an MCP server to be started as a child process.",
	"MessageId":                        "identifies a message, all chunks of which carry it.",
	"MultiSelectItems":                 "lists the choices of a field that takes several.",
	"MultiSelectPropertySchema":        "is a field of a form that takes several choices.",
	"Notice":                           "is a short message to the user, outside the conversation.",
	"NoticeCapabilities":               "says that a client shows notices.",
	"NoticeSeverity":                   "is how bad a notice is; more values may come.",
	"NumberPropertySchema":             "is a field of a form for a number.",
	"PermissionOption":                 "is one answer that a user can give.",
	"PermissionOptionId":               "identifies an answer within its question.",
	"PermissionOptionKind":             "says what an answer allows or rejects, and for how long.",
	"Plan":                             "replaces the plan.",
	"PlanEntry":                        "is one step of a plan.",
	"PlanEntryPriority":                "is how much a step matters.",
	"PlanEntryStatus":                  "is how far a step has got.",
	"PromptCapabilities":               "says which content an agent takes in prompts, besides text and links.",
	"ProtocolVersion":                  "is a major version of the protocol.",
	"RequestPermissionOutcome":         "is what became of a question; any unknown outcome is no permission.",
	"ResourceLink":                     "points at a resource.",
	"Role":                             "is a side of the conversation.",
	"SelectConfigOption":               "is a choice among values.",
	"SelectedPermissionOutcome":        "says which answer was given.",
	"SessionCancelCapabilities":        "says that the work of a subagent can be cancelled.",
	"SessionCapabilities":              "says which session methods an agent serves beyond the basic ones.",
	"SessionCloseCapabilities":         "says that an agent serves `session/close`.",
	"SessionConfigGroupId":             "identifies a group of values.",
	"SessionConfigId":                  "identifies a configuration option.",
	"SessionConfigOption":              "is a setting of a session that a client shows.",
	"SessionConfigOptionCategory":      "hints at what an option is for; more values may come.",
	"SessionConfigOptionsCapabilities": "says which kinds of options a client shows, besides choices.",
	"SessionConfigSelectGroup":         "is a group of values under a heading.",
	"SessionConfigSelectOption":        "is one value to choose.",
	"SessionConfigValueId":             "identifies a value of an option.",
	"SessionDeleteCapabilities":        "says that an agent serves `session/delete`.",
	"SessionId":                        "identifies a session.",
	"SessionInfo":                      "describes a stored session.",
	"SessionInfoUpdate":                "changes what is known of the session; null clears.",
	"SessionListCapabilities":          "says that an agent serves `session/list`.",
	"SessionMessage":                   "is a message from one session to another; what is absent stays as it was.",
	"SessionMode":                      "is a way for an agent to work.",
	"SessionModeId":                    "identifies a mode.",
	"SessionModeState":                 "is the modes there are and the one in force.",
	"SessionResumeCapabilities":        "says that an agent serves `session/resume`.",
	"SessionToolCallUpdate":            "is the session update that carries a [ToolCallUpdate].",
	"SessionUpdate":                    "is something new in a session.",
	"StopReason":                       "says why a turn ended.",
	"StringFormat":                     "is what a string has to look like.",
	"StringMultiSelectItems":           "lists plain strings to choose from.",
	"StringPropertySchema":             "is a field of a form for a text, or for one choice.",
	"SubagentCapabilities":             "says that a client shows the sessions of subagents.",
	"SubagentSessionCapabilities":      "says what a client may do with the session of a subagent.",
	"SubagentUpdate":                   "tells the session that a subagent belongs to of it; what is absent stays as it was.",
	"Terminal":                         "shows a terminal of the client inside a tool call.",
	"TerminalExitStatus":               "says how a command ended.",
	"TerminalId":                       "identifies a terminal of the client.",
	"TextContent":                      "is text, usually Markdown.",
	"TextResourceContents":             "is the contents of a text resource.",
	"TitledMultiSelectItems":           "lists choices with titles.",
	"ToolCall":                         "tells of a new tool call.",
	"ToolCallContent":                  "is something that a tool call shows.",
	"ToolCallId":                       "identifies a tool call within its session.",
	"ToolCallLocation":                 "is a place in a file; lines count from 1.",
	"ToolCallStatus":                   "is how far a tool call has got.",
	"ToolCallUpdate":                   "changes a tool call; what is absent stays as it was, and lists are replaced whole.",
	"ToolKind":                         "is a rough class of tools, for icons.",
	"UnstructuredCommandInput":         "is free text after the name of a command.",
	"Usage":                            "counts the tokens of a turn.",
	"UsageUpdate":                      "tells how much of the context is used, and what the session has cost.",
	"UserMessageChunk":                 "is a piece of what the user said.",

	"SessionAdditionalDirectoriesCapabilities": "says that an agent takes more than one root directory.",
}
