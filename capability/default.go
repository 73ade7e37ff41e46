package capability

// Default says in which cases a tool runs without a question while no rule decides
// otherwise (R117). It is part of a tool's definition.
type Default uint8

// AskAlways is the zero value: every call is asked about.
const AskAlways Default = 0

// The cases without a question, which a tool combines with "|".
const (
	// AllowAlways frees every call.
	AllowAlways Default = 1 << iota
	// AllowChanges frees changes of files in the session's scratch directory, and in the modes
	// code and auto those in the workspace.
	AllowChanges
	// AllowDeletes frees deleting files in the session's scratch directory, and in the mode
	// auto in the workspace.
	AllowDeletes
	// AllowTrusted frees programs that a project configures: in a project that the user
	// trusts, and in the mode auto.
	AllowTrusted
	// AllowSandboxed frees, in the mode auto, commands that a sandbox confines.
	AllowSandboxed
	// AllowGrantedHosts frees requests to hosts that the user named, that a search of this
	// session found or that the configuration lists.
	AllowGrantedHosts
)

// Has reports whether d contains a case.
func (d Default) Has(c Default) bool { return d&c != 0 }

// ToolDefault is the default of the tool of an id.
type ToolDefault struct {
	Tool    string
	Default Default
}
