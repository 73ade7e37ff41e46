package tools

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"acp-agent/kinds"
	"acp-agent/transcript"
)

// Services are what a session offers its tools beside files, commands and the
// network. A nil field means that the session does not have it; the tool then
// says so.
type Services struct {
	// Memory is never nil.
	Memory Memory
	// Questions is nil when there is no one to answer (R76).
	Questions Questioner
	Skills    SkillIndex
	// Index is nil when no tool is deferred.
	Index ToolIndex
	// Changes are those of the call's session.
	Changes   Changes
	Languages LanguageServers
	// Modes is nil when the session has none.
	Modes Modes
	// Agents is nil where nothing can be delegated.
	Agents Spawner
	// Threads is nil where no conversation is stored.
	Threads Threads
	// Jobs is nil where nothing may run in the background.
	Jobs Jobs
	// Await is called when a call begins to wait for the user, and what it returns when
	// that is over; nil where no one counts the time.
	Await func(ctx context.Context) (over func())
}

// PlanFile is the name of the plan in the session's scratch directory: the one
// file that is written in plan mode (R157).
const PlanFile = "plan.md"

// Modes is the mode of the session, as far as a tool may see and leave it (R157).
type Modes interface {
	// AfterPlan says in a few words which mode leaving plan mode leads to. It is an
	// *Error when the session is not in plan mode.
	AfterPlan() (string, error)
	// LeavePlan leaves plan mode, for a user who approved that; told is what the
	// model is told of the mode that it leads to. It is an *Error when the session
	// is not in plan mode.
	LeavePlan() (mode, told string, err error)
}

// Memory keeps what a session's tools remember. It is part of the transcript,
// so it lives as long as that does (R61, R80).
type Memory interface {
	Plan() []transcript.PlanEntry
	// SetPlan replaces the plan and shows it (R61).
	SetPlan(entries []transcript.PlanEntry)
	// Count counts one use of something, unless limit uses were counted already;
	// n is how many there are now.
	Count(what string, limit int) (n int, ok bool)
	// NameHosts makes hosts known as named by the user, or found by a search:
	// web_fetch does not ask for them.
	NameHosts(hosts ...string)
}

// Question is one question to the user (R74).
type Question struct {
	Question    string           `json:"question"`
	Header      string           `json:"header,omitempty"`
	Options     []QuestionOption `json:"options,omitempty"`
	MultiSelect bool             `json:"multi_select,omitempty"`
}

// QuestionOption is an answer to choose.
type QuestionOption struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
}

// ErrInChat says that questions were written into the chat: the user's next message answers
// them.
var ErrInChat = errors.New("the questions were written into the chat")

// InChat is the error of a Questioner that can only ask in the chat. The session writes Text
// there, so that it is a part of the conversation, and the tool has ErrInChat.
type InChat struct{ Text string }

// Error says that the questions are for the chat.
func (*InChat) Error() string { return "the questions are to be written into the chat" }

// Questioner puts questions to the user.
type Questioner interface {
	// Answers waits for the answers, one list for each question. A user who
	// declines, or cannot be asked, is an *Error; no answer is ever invented. ErrInChat
	// says that the questions were written into the chat instead (R77); from a client, *InChat
	// has them written there.
	Answers(ctx context.Context, callID string, questions []Question) ([][]string, error)
}

// Threads are the stored conversations of the session's directory, without the session's own
// (R99).
type Threads interface {
	// Find returns the conversations that hold all words of a query, the last used first;
	// without words, the conversations that were used last.
	Find(ctx context.Context, query string, limit int) ([]Thread, error)
	// Read returns a conversation as text. An id of which there is none is an *Error.
	Read(ctx context.Context, id string) (Thread, string, error)
}

// Thread is a stored conversation.
type Thread struct {
	ID      string    `json:"id"`
	Title   string    `json:"title"`
	Updated time.Time `json:"updated"`
	Turns   int       `json:"turns"`
	// Found are the surroundings of the words that were searched for.
	Found []string `json:"found,omitempty"`
}

// SkillIndex is the session's skills (R84).
type SkillIndex interface {
	// Load returns a skill as the model reads it. An unknown name is an *Error
	// that lists the names.
	Load(name string) (content string, err error)
}

// ToolIndex is the tools that do not stand in the requests (R87).
type ToolIndex interface {
	// Search finds deferred tools.
	Search(query string, limit int) []ToolMatch
}

// ToolMatch is a tool that a search found.
type ToolMatch struct {
	ID          string `json:"id"`
	Description string `json:"description"`
	// Parameters is the schema of its arguments.
	Parameters json.RawMessage `json:"-"`
}

// Changes are the changes of the session's files that can be taken back (R95,
// R127, R128).
type Changes interface {
	// Last describes what Undo would do to a file. It is an *Error when there is
	// nothing to undo, or the file was changed since.
	Last(ctx context.Context, path string) (Change, error)
	// Undo takes back the last change of a file.
	Undo(ctx context.Context, path string) (Change, error)
	// Rollback takes back what this call changed so far, the newest first. What
	// could not be restored is returned; the rest is.
	Rollback(ctx context.Context) []error
}

// Change is what an undo does to a file.
type Change struct {
	// Path is absolute.
	Path string
	// Old and New are the texts before and after the undo; nil when there is no
	// file, or no text.
	Old, New *string
	// Exists says whether the file is there after the undo.
	Exists bool
	// Also are the absolute paths of other files that the undo changes: the undo
	// of a renaming changes two.
	Also []string
}

// LanguageServers answers questions about code (R98).
type LanguageServers interface {
	Ask(ctx context.Context, q LanguageQuery) (*LanguageAnswer, error)
	// Any reports whether any of them can be started.
	Any() bool
}

// The operations of a LanguageQuery.
const (
	Definitions = "definitions"
	References  = "references"
	Diagnostics = "diagnostics"
)

// LanguageQuery is one question about a file.
type LanguageQuery struct {
	Operation string
	// Path is absolute.
	Path string
	// Line and Column are 1-based; Column counts characters.
	Line, Column int
	// Text is the file as the user sees it.
	Text string
}

// LanguageAnswer is what a language server knows.
type LanguageAnswer struct {
	// Server names who answered.
	Server      string
	Locations   []CodeLocation
	Diagnostics []Diagnostic
}

// CodeLocation is a place in a file; Text is its line, when it is known.
type CodeLocation struct {
	Path   string `json:"path"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Text   string `json:"text,omitempty"`
}

// Diagnostic is one finding of a language server.
type Diagnostic struct {
	Path     string `json:"path"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	Severity string `json:"severity"`
	Message  string `json:"message"`
	Source   string `json:"source,omitempty"`
	Code     string `json:"code,omitempty"`
}

// Spawner hands work to subagents (R62). It belongs to one agent, which becomes the
// parent of the agents that it spawns.
type Spawner interface {
	// Spawn runs a subagent and waits for it, or with Background only until it is
	// accepted. An unknown type, too great a depth and a spent budget are *Errors.
	Spawn(ctx context.Context, d Delegation) (*Delegated, error)
	// Tasks lists the subagents of the whole session, in the order in which they were
	// wanted.
	Tasks() []transcript.ChildRecord
	// Lacks says in a few words why Spawn could only fail for a type of subagent, ""
	// being any; "" when it could not.
	Lacks(agent string) string
}

// Delegation is a piece of work for a subagent.
type Delegation struct {
	// CallID is the tool call that delegates.
	CallID string
	// Agent names the manifest of the subagent.
	Agent, Prompt string
	// Context is data for its system prompt; empty means that there is none (R62).
	Context string
	// Metadata are kept with its record.
	Metadata   map[string]any
	Background bool
}

// Delegated is what came of a Delegation (R70).
type Delegated struct {
	// Record is without messages. In the background it is that of a subagent which has
	// only been accepted.
	Record transcript.ChildRecord
	// Summary says in one line what it did.
	Summary string
	// Executions are its tool calls, those of its own subagents left to their records.
	Executions []Execution
	// Modified are the absolute paths of the files that it and its subagents changed.
	Modified []string
	// Card is the content of the card of the call that delegated.
	Card []kinds.Content
}

// Execution is a tool call of a subagent, as its parent is told of it.
type Execution struct {
	CallID     string           `json:"call_id"`
	Tool       string           `json:"tool"`
	Title      string           `json:"title"`
	State      transcript.State `json:"state"`
	DurationMS int64            `json:"duration_ms"`
}
