package tools

import (
	"context"
	"encoding/json"
	"time"

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
	// AwaitUser is called when a call starts to wait for the user; the function that it returns
	// is called when the wait is over. nil means that such time need not be left out of any limit.
	AwaitUser func(ctx context.Context) (resume func())
}

// PlanFile is the name of the plan in the session's scratch directory: the one
// file that is written in plan mode (R157).
const PlanFile = "plan.md"

// Modes is the mode of the session, as far as a tool may see and leave it (R157).
type Modes interface {
	// AfterPlan says in a few words which mode leaving plan mode leads to. It is an
	// *Error when the session is not in plan mode.
	AfterPlan() (string, error)
	// LeavePlan leaves plan mode, which the user has approved. mode is the mode after it, notice
	// the text about it for the model. The error is an *Error when the session is not in plan
	// mode.
	LeavePlan() (mode, notice string, err error)
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

// ToolIndex finds tools that the requests do not list (R87).
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
