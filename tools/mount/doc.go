// Package mount brings tools into the agent by a mount plan (R8).
//
// A plan names modules, where each comes from, and its config:
//
//	tools:
//	  - module: read
//	    source: builtin
//	    config: { max_size: 1048576, allowed_paths: [/home/me/projects] }
//	  - module: count-files
//	    source: ./tools/count
//
// [ParsePlan] reads it as YAML or as JSON with comments. [Open] mounts, in order, the modules
// that are described in files, and StartAsking has the others describe themselves, in the
// background. A module's mount function gets a [Coordinator] and its
// config and returns a tool, a cleanup function, or nothing. What fails in one
// module is that module's [Failure]; the others go on, and so does the agent.
//
//	ours := builtin.All()
//	o := mount.Options{Taken: mount.Names(ours), Dir: dir}
//	o.Builtin = mount.Builtins(ours)
//	mounting := mount.Open(ctx, plan.With(ours), o)
//	defer mounting.Close()
//	registry, err := tools.NewRegistry(mounting.Tools()...)
//	mounting.StartAsking()
//	more, generation := mounting.Answered()
//
// # Built-in modules
//
// [Builtin] makes a module of a tool of the agent's own. All of them are mounted this way, also
// the ones that the plan does not name. A config can only narrow the tool. A config with a
// mistake leaves the tool out, because the tool must not run without the bounds that were meant.
// Only a built-in module may have one of the locked ids.
//
// # Local modules
//
// A source that is a path (./, ../, ~/, absolute, or after "file:") is a
// directory with tool.json and an executable. Anything else is refused: what
// runs here has to be fetched, and looked at, by the user.
//
//	{
//	  "name": "count_files",            // else describe is asked
//	  "description": "Count files.",    // else describe is asked
//	  "inputSchema": {…},               // or "parameters"; absent: an empty object
//	  "executable": "./count.sh",       // within the directory
//	  "kind": "search",                 // an ACP kind; else other
//	  "requires": {…},                  // a requirement set; shell.run is added
//	  "readonly": true,
//	  "events": ["count_files:done"],
//	  "timeout_ms": 10000,              // in place of the general limit
//	  "cleanup": true                   // it wants to be told when the agent ends
//	}
//
// A name with hyphens, as modules have them, becomes a tool id with
// underscores: module my-tool gives tool my_tool.
//
// The executable is run by its arguments, never by a shell, in the session's
// directory. TOOLBOX_ACTION, and its one argument too, is describe, execute or cleanup;
// TOOLBOX_CONFIG is the config of the plan as JSON, when there is one. AGENT is acp-agent,
// and for execute AGENT_THREAD_ID the id of the session.
//
//   - describe answers with one JSON object that holds name, description and
//     inputSchema. It is asked after the first session starts, eight at once, and has 20 seconds.
//
//   - execute reads the arguments, one JSON object, from its standard input and
//     writes its result to its standard output. A result in one of the shapes of
//     package bridge is taken for what it says; anything else is text, of which
//     the first 50,000 characters are shown. Exit codes other than 0 are tool
//     errors with what it wrote to its standard error, which is otherwise shown
//     as progress.
//
//   - cleanup is run when the agent ends, in a second for all, of a module that asks for it
//     and was called. It writes nothing, and has the network when requires names hosts: what
//     was left on this machine is gone by itself.
//
// An executable that answers describe with null has no use here and mounts nothing, which
// is not a failure.
//
// describe may answer in lines as well, of a name, a colon and a value: name,
// description, and for each argument its type and what it is. A program that does
// reads its arguments as lines, too.
//
//	name: run-tests
//	description: Run the tests of a directory.
//	dir: string The directory.
//	verbose: boolean? Whether to print the name of each test.
//
// # Toolboxes
//
// Each executable file in a directory of [Toolbox] is a tool without a tool.json
// (R93): it describes itself, is run without an argument, and has the prefix tb__.
// Its description may have "args", each as ["type", "what it is"], in place of a
// schema, and subagentTypes (R10).
//
// # Trust
//
// tool.json, the executable and the directories that hold them must belong to
// the user and not be writable for others (B1), at mount and at each call.
//
// # For tests of modules
//
// A [Coordinator] needs nothing but a name and holds no resources, so a test
// uses a real one; package mounttest has a recorder around it.
//
// It imports tools, tools/bridge, tools/stream, capability, kinds, of internal pathname, strictread
// (YAML and JSON with comments) and textcut, and the JSON schema library. Its goroutines are those
// in which modules are asked, which Close waits for. It knows neither rules nor sandboxes:
// executables run through the Runtime of their call.
//
// # Requirements
//
// R8, R10 (subagentTypes of scripts), R93, R104 (streams of modules and scripts),
// R111 (variables of modules), R131 (contributed events), R163, R164.
package mount
