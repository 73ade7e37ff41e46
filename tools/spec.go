package tools

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"

	"acp-agent/capability"
	"acp-agent/kinds"
)

// Tool is a tool: what it says of itself, and what it does.
type Tool struct {
	Spec
	// Run does the work. args have passed Spec.Parameters. A failure of the
	// tool is a returned *Error; any other error is a fault of the host and is
	// reported as kind Backend. When ctx ends, Run stops and returns what it
	// has.
	Run func(ctx context.Context, rt Runtime, args Args) (*Result, error)
}

// Spec is everything a tool publishes (R1, R2).
type Spec struct {
	// ID is the canonical name: short snake_case, unique.
	ID string
	// Description is the prose the model reads.
	Description string
	// Parameters is the JSON Schema of the arguments; nil means an empty object
	// (R7).
	Parameters *jsonschema.Schema
	// Lacks says in a few words what is missing in a session, so that the tool could only
	// fail; "" when it can be used, and nil when it always can. A tool that lacks something
	// is not offered, and a call of it runs, and says the same (R9).
	Lacks func(s Services) string
	// Requires is the capability surface the tool needs.
	Requires capability.RequirementSet
	// Source says where the tool comes from; the zero value is builtin.
	Source Source
	// Origin returns the provenance of a tool from elsewhere at this moment; nil means that
	// it is the agent's own. It may read files, and it never fails.
	Origin func() Origin
	// Kind is the ACP kind of a call, which decides its icon; empty means Other. What a
	// tool from elsewhere declares never influences permission.
	Kind kinds.Kind
	// Label is the title of a call whose arguments are not known or say too little; empty
	// means one made of ID.
	Label string
	// Describe makes the card of a call from its arguments alone; nil means Label. The
	// arguments may be malformed. What it leaves empty is filled from Kind and Label. Of a
	// tool from elsewhere it is ignored.
	Describe func(args Args, in kinds.Place) kinds.Card
	// Default says which calls run without a question while no rule decides otherwise
	// (R117); the zero value asks each time. Of a tool from elsewhere it is ignored.
	Default capability.Default
	// SubagentTypes are the subagents that a toolbox tool is for, or "all" (R10).
	SubagentTypes []string
	// Aliases are other names, each with an optional mapping of its arguments.
	Aliases []Alias
	// Renames maps alternative argument names to canonical ones under every
	// name of the tool (R17).
	Renames map[string]string
	// Accepts is what is understood besides; nil means shapes alone.
	Accepts *Accepts
	// Shown is the schema that the model is sent, when that is smaller than what
	// Parameters take; nil means Parameters.
	Shown *jsonschema.Schema
	// Variants are the schemas of calls that have a certain argument, in place of
	// Parameters; the model is not sent them.
	Variants map[string]*jsonschema.Schema
	// Preprocess turns arguments under their canonical names into the ones that will run, by
	// setting or deleting members of args; what these hold it leaves alone. Numbers are
	// json.Number. The arguments may still be of any type: the schema check comes after.
	// nil means no change. It must be pure.
	Preprocess func(args map[string]any, env Env) error
	// Resources names what the call touches; permission rules judge each of
	// them and the capability check confines them. nil means nothing.
	Resources func(args Args, env Env) []Resource
	// Profile decides what may run beside the tool; nil means nothing may
	// (R100).
	Profile *Profile
	// Preview computes the card of a permission request without changing
	// anything, such as the diff of an edit (R152). nil means the plain card.
	Preview func(ctx context.Context, rt Runtime, args Args) ([]kinds.Content, error)
	// DisableTimeout exempts the tool from the default time limit (R103).
	DisableTimeout bool
	// Delegates says that the tool waits for subagents. They stop by themselves when
	// the call does, so a cancelled call waits for them before it answers.
	Delegates bool
	// Inward says that the tool uses nothing but the session, its user and its subagents, so that a
	// recording is played with the tool itself. Of a tool from elsewhere it is ignored.
	Inward bool
	// ReadOnly tools change nothing; Cacheable results may be kept (R130).
	ReadOnly, Cacheable bool
	// SaysReadOnly reports that the source of a tool from elsewhere says that it changes
	// nothing. It is not trusted: it saves looking for what the tool changed, and no more.
	SaysReadOnly bool
	// OwnLimit says that the tool bounds its own output (R105); others are cut
	// at the general cap (R106).
	OwnLimit bool
	// Rest says, for the model, how it gets what the room in its window has no place for;
	// empty means that the whole result is kept in a file.
	Rest string
}

// Source says where a tool comes from.
type Source struct {
	// Kind is one of the sources below; empty means Builtin.
	Kind string
	// Server is the MCP server, provider or module.
	Server string
	// Name is what the server calls the tool; empty when that does not matter.
	Name string
	// About is what the server says of itself, in one line; may be empty.
	About string
}

// Origin is the program or address that provides a tool from elsewhere. What the user allows
// is allowed to that alone.
type Origin struct {
	// Digest changes with the program or address, and with its arguments.
	Digest string
	// Place is the program or host for people, in a few words and without keys.
	Place string
	// Remote says that it is an address, and no program on this machine.
	Remote bool
	// UntrustedName says that the source of the tool has chosen its name, so that the allows of
	// the user's own configuration that use the name do not mean it.
	UntrustedName bool
}

// Provenance is the origin of the tool now; zero for the agent's own.
func (s *Spec) Provenance() Origin {
	if s.Origin == nil {
		return Origin{}
	}
	return s.Origin()
}

// DigestOf is a digest of all parts, none of which can pass for another.
func DigestOf(parts ...string) string {
	sum := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(sum, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// The sources of tools (R2).
const (
	Builtin  = "builtin"
	MCP      = "mcp"
	Toolbox  = "toolbox"
	Provider = "provider"
	Module   = "module"
)

// Foreign reports whether the tool is not part of the agent: what it says of
// itself and of its results is not taken on trust.
func (s *Spec) Foreign() bool { return s.Source.Kind != "" && s.Source.Kind != Builtin }

// Alias is another name a tool answers to (R16, R17).
type Alias struct {
	Name string
	// Renames maps this alias's argument names to canonical ones, beside the
	// tool's own Renames.
	Renames map[string]string
	// Parameters is the alias's own schema, which arguments under this name must
	// pass before they are mapped; nil means the tool's own.
	Parameters *jsonschema.Schema
	// Map turns arguments of the alias into those of the tool, when new names
	// are not enough; it runs after Renames and must be pure.
	Map func(args json.RawMessage) (json.RawMessage, error)
}

// Profile says what a call conflicts with (R100-R102).
type Profile struct {
	// Serial calls run alone.
	Serial bool
	// Keys names the resources; nil means none, so that nothing conflicts.
	Keys func(args Args, env Env) []ResourceKey
}

// ResourceKey is a resource and how it is used. Keys of paths are absolute and
// symlink-resolved.
type ResourceKey struct {
	Key   string
	Write bool
	// Tree marks a reader or writer of everything beneath Key, such as grep.
	Tree bool
}

// Resource is one thing a call touches, as rules see it.
type Resource struct {
	// Kind is PathRead, PathWrite, Command, Host or Executable.
	Kind ResourceKind
	// Value is an absolute path, the command text, a host name, or what a rule
	// calls the program.
	Value string
	// Deletes, with PathWrite, says that the file goes away: rules for delete_file
	// hold as well.
	Deletes bool
	// URL is the whole address of a Host; empty when only the host is known. Without a
	// Value it is an address that names no host.
	URL string
	// Dir is the working directory of a Command.
	Dir string
	// NoFollow says that the call touches the name of a path alone: when a link
	// has it, the link is what is judged and confined, and not where it leads.
	NoFollow bool
}

// ResourceKind tells paths, commands, hosts and programs apart.
type ResourceKind int

// The kinds of resources.
const (
	PathRead ResourceKind = iota
	PathWrite
	Command
	Host
	// Executable is a program that the tool starts, as opposed to a command that
	// the model wrote: a formatter, a language server.
	Executable
)

// Env is the little of a session that pure functions of a Spec may know.
type Env struct {
	kinds.Place
	// Resolve follows symlinks of an absolute path as far as it exists, and
	// cleans it; it never fails.
	Resolve func(abs string) string
	// Inside reports whether an absolute path leads into a directory of the session; nil
	// means that this is not known.
	Inside func(abs string) bool
	// Undoing lists the absolute paths that taking back the last change of a file
	// would change, for the rules to see (R95); nil means that nothing is tracked.
	Undoing func(abs string) []string
	// NoJobs says that no command may go on in the background.
	NoJobs bool
}

// Real returns where a path as the model wrote it leads, with symlinks resolved.
func (e Env) Real(path string) string {
	abs := e.Abs(path)
	if e.Resolve == nil {
		return abs
	}
	return e.Resolve(abs)
}

// Key is a ResourceKey of a path as the model wrote it.
func (e Env) Key(path string, write bool) ResourceKey {
	return ResourceKey{Key: e.Real(path), Write: write}
}

// Define makes a Tool of a function with typed arguments. When spec.Parameters
// is nil the schema is derived from A's json and jsonschema tags; fields whose
// json tag has omitempty or omitzero are optional, and no other properties are
// allowed. It panics when A has no schema: that is a bug in the tool.
func Define[A any](spec Spec, run func(ctx context.Context, rt Runtime, args A) (*Result, error)) Tool {
	if spec.Parameters == nil {
		schema, err := jsonschema.For[A](nil)
		if err != nil {
			panic("tools: schema of " + spec.ID + ": " + err.Error())
		}
		spec.Parameters = schema
	}
	return Tool{Spec: spec, Run: func(ctx context.Context, rt Runtime, given Args) (*Result, error) {
		args, err := Decode[A](ctx, given)
		if err != nil {
			return nil, badArgs(ctx, spec.ID, err)
		}
		return run(ctx, rt, args)
	}}
}

// DefinePlanned makes a Tool whose preview works out what its run does, such as the new text
// of a file. run gets the plan of the call's last preview, or the zero value when there was
// none. The world may have changed since: run must find that out where it acts.
func DefinePlanned[A, P any](
	spec Spec, preview func(ctx context.Context, rt Runtime, args A) (P, []kinds.Content, error),
	run func(ctx context.Context, rt Runtime, args A, plan P) (*Result, error),
) Tool {
	tool := Define[A](spec, nil) // for the schema
	tool.Preview = func(ctx context.Context, rt Runtime, given Args) ([]kinds.Content, error) {
		args, err := Decode[A](ctx, given)
		if err != nil {
			return nil, badArgs(ctx, spec.ID, err)
		}
		plan, content, err := preview(ctx, rt, args)
		if err == nil {
			given.keepPlan(plan)
		}
		return content, err
	}
	tool.Run = func(ctx context.Context, rt Runtime, given Args) (*Result, error) {
		args, err := Decode[A](ctx, given)
		if err != nil {
			return nil, badArgs(ctx, spec.ID, err)
		}
		plan, _ := given.keptPlan().(P) // the zero value without a preview
		return run(ctx, rt, args, plan)
	}
	return tool
}

// Previewing makes a Spec.Preview of a function with typed arguments, for the
// tool of an id.
func Previewing[A any](
	id string, preview func(ctx context.Context, rt Runtime, args A) ([]kinds.Content, error),
) func(context.Context, Runtime, Args) ([]kinds.Content, error) {
	return func(ctx context.Context, rt Runtime, given Args) ([]kinds.Content, error) {
		args, err := Decode[A](ctx, given)
		if err != nil {
			return nil, badArgs(ctx, id, err)
		}
		return preview(ctx, rt, args)
	}
}
