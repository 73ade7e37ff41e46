package transcript

import (
	"encoding/json"
	"time"

	"acp-agent/kinds"
)

// Event is one step of a session's stream. For parts and tool calls the order
// is fixed: started, then deltas, then ended; a delta never precedes its start
// (R134), and a tool call ends exactly once (R125).
type Event interface{ isEvent() }

// Sink consumes a session's stream. Emit may block, so that a slow editor slows the model down. It is called
// by one goroutine at a time for a call or part, and by several for different calls.
type Sink interface{ Emit(Event) }

// SinkFunc is a function as a Sink.
type SinkFunc func(Event)

// Emit calls f.
func (f SinkFunc) Emit(e Event) { f(e) }

// Discard is a Sink that drops all events.
var Discard Sink = SinkFunc(func(Event) {})

// PartKind tells text from reasoning.
type PartKind int

// The kinds of streamed parts.
const (
	TextKind PartKind = iota
	ReasoningKind
)

type (
	// TurnStarted opens a turn (R131).
	TurnStarted struct {
		TurnID, MessageID string
		At                time.Time
	}
	// TurnFinished closes a turn: Reason is finish, abort or error (R131).
	TurnFinished struct {
		TurnID, Reason  string
		PendingApproval bool
	}
	// UserSaid records a prompt before the model is called (R135).
	UserSaid struct{ Message *Message }

	// AgentSaid records a message that the agent itself put into the conversation
	// (Message.Synthetic), outside of any step.
	AgentSaid struct{ Message *Message }

	// StepStarted opens the assistant message of one model call.
	StepStarted struct {
		MessageID, Model, Digest string
		At                       time.Time
	}
	// StepFinished closes it, also when it was cut off. Usage is nil when the server
	// reported none; Origin is that of the message.
	StepFinished struct {
		MessageID string
		Usage     *Usage
		Origin    string
	}
	// StepDropped withdraws an assistant message for which the model is asked again. None of its
	// text was shown, and its tool calls, if any, have ended as failed.
	StepDropped struct{ MessageID string }

	// TurnWithdrawn takes a user message and all that followed out of the model's
	// view, as a refusal asks (ACP, stop reasons).
	TurnWithdrawn struct{ MessageID string }

	// Hidden takes a user message and all that followed it out of the conversation, as an
	// undo does (R142). It stays in the record, and Shown with the same id brings it back.
	Hidden struct{ MessageID string }
	// Shown brings back what Hidden took out, as a redo does.
	Shown struct{ MessageID string }

	// Cleared starts a new conversation: the model sees nothing of what was said before, which
	// stays in the record.
	Cleared struct {
		MessageID string
		At        time.Time
	}

	// CompactionStarted says that the conversation is being compacted (R139). ID is the id of the
	// message with which that ends.
	CompactionStarted struct{ ID string }
	// Compacted ends a compaction. Message.Compaction says what the model still sees; the record
	// keeps everything.
	Compacted struct{ Message *Message }
	// CompactionFailed ends a compaction that has changed nothing. Reason is for the user;
	// Cancelled says that the user has ended it.
	CompactionFailed struct {
		ID, Reason string
		Cancelled  bool
	}

	// PartStarted opens a text or reasoning part.
	PartStarted struct {
		MessageID, PartID string
		Kind              PartKind
	}
	// PartDelta grows it by text that is valid UTF-8.
	PartDelta struct{ PartID, Text string }
	// PartReplay gives an open reasoning part the data that its server wants back.
	PartReplay struct {
		PartID string
		Data   json.RawMessage
	}
	// PartEnded closes it.
	PartEnded struct{ PartID string }

	// ToolStarted opens a tool call. Its arguments are still streaming in, so that Card shows only
	// the tool.
	ToolStarted struct {
		MessageID, CallID, Name, Tool string
		Card                          kinds.Card
	}
	// ToolInput grows the arguments.
	ToolInput struct{ CallID, Delta string }
	// ToolReplay gives an open call the data that its server wants back.
	ToolReplay struct {
		CallID string
		Data   json.RawMessage
	}
	// ToolReady says the arguments are complete. Input is the text the model
	// wrote; Args are the arguments that will run: canonical, preprocessed,
	// validated (R21), or nil when there are none.
	ToolReady struct {
		CallID, Tool, Input string
		Args                []byte
		Card                kinds.Card
	}
	// ToolState moves a call between its states that are not terminal.
	ToolState struct {
		CallID string
		State  State
		// ToAllow, with BlockedOnUser, is what could be allowed (R118).
		ToAllow []string
		Reason  string
	}
	// ToolOutput is a piece of a running command's output, valid UTF-8.
	ToolOutput struct{ CallID, Text string }
	// ToolTerminal says that a terminal of the editor shows the call; with an
	// empty id, that it does not after all.
	ToolTerminal struct{ CallID, TerminalID string }
	// ToolFinished ends a call.
	ToolFinished struct {
		CallID string
		State  State
		Card   kinds.Card
		Result Envelope
		Text   string
		// Shown is what the card shows in place of Text; "" when that is the same. Text differs
		// when it tells the model what to do after a failure, or is cut to the model's window.
		Shown  string
		Images []ImagePart
		// Background says that a subagent or a job goes on after the result: the card stays
		// open until its ChildFinished or JobEnded.
		Background bool
		// EndsTurn says that the turn ends after the step of this call.
		EndsTurn bool
	}

	// ToolCard replaces the content of a running call's card.
	ToolCard struct {
		CallID  string
		Content []kinds.Content
	}

	// JobOutput is a piece of the output of a command in the background that a call started,
	// during the call and after it, valid UTF-8.
	JobOutput struct{ CallID, Text string }
	// JobListens says on which ports a command in the background listens from now on, while it
	// runs; none when it does on none any more.
	JobListens struct {
		CallID string
		Ports  []kinds.Port
	}
	// JobEnded says how a command in the background ended. State is exited, with ExitCode and
	// Signal, or says why it was ended.
	JobEnded struct {
		CallID, State string
		ExitCode      int
		Signal        string
	}

	// ChildStarted says that a tool call spawned a subagent, one for each such call.
	ChildStarted struct {
		CallID string
		Child  *Child
	}
	// ChildEvent is one event of the subagent that a call spawned. An event of a subagent further
	// down is a ChildEvent in a ChildEvent.
	ChildEvent struct {
		CallID string
		Event  Event
	}
	// ChildFinished ends a subagent, whose record is complete. Card is the call's card with the
	// result. If the call waits for the subagent, its ToolFinished follows.
	ChildFinished struct {
		CallID string
		Child  *Child
		Card   kinds.Card
	}

	// UsageChanged reports the context's fill after a model call; Size is the
	// model's window in tokens, 0 when unknown.
	UsageChanged struct {
		Used, Size int
		// Cost is what the session has cost so far in US dollars, with its subagents; 0
		// when that is not known.
		Cost float64
	}
	// TitleChanged names the session.
	TitleChanged struct {
		Title string
		At    time.Time
	}
	// PlanChanged carries the complete plan.
	PlanChanged struct{ Entries []PlanEntry }
	// Counted counts one use of something that a session has a limit for (R80).
	Counted struct{ What string }
	// ToolsActivated makes deferred tools callable for the rest of the session
	// (R87).
	ToolsActivated struct{ IDs []string }
	// HostsNamed says that a user or a search named hosts.
	HostsNamed struct{ Hosts []string }
	// ModeChanged says which mode is current.
	ModeChanged struct{ ModeID string }
	// OptionsChanged says that the session's config options differ now.
	OptionsChanged struct{}
	// CommandsChanged says that there may be other slash commands than before (R158).
	CommandsChanged struct{}
	// SandboxFound says that the trial of the sandbox has ended.
	SandboxFound struct{}
	// Notice tells the user something that is not the model's text, such as
	// a retry.
	Notice struct {
		Severity    Severity
		Title, Text string
	}
)

// PlanEntry is one line of a plan.
type PlanEntry struct {
	Content  string `json:"content"`
	Priority string `json:"priority"`
	Status   string `json:"status"`
}

// Severity ranks a Notice.
type Severity string

// The severities of a notice.
const (
	Info    Severity = "info"
	Warning Severity = "warning"
)

func (TurnStarted) isEvent()       {}
func (TurnFinished) isEvent()      {}
func (UserSaid) isEvent()          {}
func (AgentSaid) isEvent()         {}
func (StepStarted) isEvent()       {}
func (StepFinished) isEvent()      {}
func (StepDropped) isEvent()       {}
func (TurnWithdrawn) isEvent()     {}
func (Hidden) isEvent()            {}
func (Shown) isEvent()             {}
func (Cleared) isEvent()           {}
func (CompactionStarted) isEvent() {}
func (Compacted) isEvent()         {}
func (CompactionFailed) isEvent()  {}
func (PartStarted) isEvent()       {}
func (PartDelta) isEvent()         {}
func (PartReplay) isEvent()        {}
func (PartEnded) isEvent()         {}
func (ToolStarted) isEvent()       {}
func (ToolInput) isEvent()         {}
func (ToolReplay) isEvent()        {}
func (ToolReady) isEvent()         {}
func (ToolState) isEvent()         {}
func (ToolOutput) isEvent()        {}
func (ToolTerminal) isEvent()      {}
func (ToolFinished) isEvent()      {}
func (ToolCard) isEvent()          {}
func (JobOutput) isEvent()         {}
func (JobListens) isEvent()        {}
func (JobEnded) isEvent()          {}
func (ChildStarted) isEvent()      {}
func (ChildEvent) isEvent()        {}
func (ChildFinished) isEvent()     {}
func (UsageChanged) isEvent()      {}
func (TitleChanged) isEvent()      {}
func (PlanChanged) isEvent()       {}
func (Counted) isEvent()           {}
func (ToolsActivated) isEvent()    {}
func (HostsNamed) isEvent()        {}
func (ModeChanged) isEvent()       {}
func (OptionsChanged) isEvent()    {}
func (CommandsChanged) isEvent()   {}
func (SandboxFound) isEvent()      {}
func (Notice) isEvent()            {}
