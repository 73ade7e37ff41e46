// Package script is a deterministic model that reads its answers from a file.
// The demo and the whole-agent tests run on it: no network, no key, the same
// answers every time (R165).
//
// # The file
//
// A file is a sequence of JSON objects, one step each: usually one per line,
// though an object may span lines. Empty lines and lines that begin with # are
// skipped. A step is one answer of the model, that is one model call. All
// fields are optional, unknown ones are refused, and {} answers nothing at all.
//
//	# a small session
//	{"say": "I will look.", "call": [{"name": "read", "args": {"path": "${cwd}/a.txt"}}]}
//	{"expect": {"last_result": "hello"}, "say": "It says: ${last_result}"}
//
// What a step streams, in this order:
//
//	think     reasoning text
//	say       text
//	call      tool calls: [{"name": "read", "args": {…}, "id": "optional"}];
//	          raw_args instead of args is text that need not be JSON
//	usage     {"input": 10, "output": 5, "cache_read": 0, "cache_write": 0, "reasoning": 0};
//	          none is reported unless it is given
//	finish    stop, tool_calls, length or refusal; the default is tool_calls for
//	          a step with calls and stop for others
//
// How it streams:
//
//	chunk     runes per piece of think, say and arguments; 0 sends each whole
//	pause_ms  milliseconds between pieces
//	wait      a note saying why; the step never ends, after its calls, until it
//	          is cancelled
//	until     a path; the step begins once there is such a file, so that a test
//	          says in which order agents that run side by side go on
//	error     {"status": 429, "message": "…", "retry_after_ms": 10, "kind": "transient"}
//	          fails the step after whatever else it streams; the kind is
//	          transient, overflow, auth or invalid, and follows from the status
//	          unless it is given
//	repeat    how often the step is used; 0 and 1 mean once, -1 means for ever
//
// What a step demands of its request; if it is not so, the step fails and names
// the file and line:
//
//	expect    {"last_user": "text", "last_result": "text", "last_images": 1, "told": "text",
//	           "not_told": "text", "system": "text", "not_system": "text", "tools": ["read"], "no_tools": ["bash"],
//	           "model": "id", "messages": 3, "temperature": 0.2, "max_tokens": 4000}; texts are substrings,
//	           "told" is what the agent itself put into the last user message, and
//	           its own messages after it and between it and the answer before it
//
// # Scenes
//
// A step with "when" (a regular expression over the latest prompt) or "system"
// (one over the system prompt) opens a scene; the steps after it belong to it
// until the next scene opens. A prompt that matches plays the first matching
// scene from its top, so that the same prompt gives the same answers again. The
// steps before the first scene are the main scene: it serves all other prompts
// and goes on where the conversation left it. Subagents and title requests are
// conversations of their own and find their scenes in the same way.
//
//	{"say": "Hello."}
//	{"when": "^list (.+)$", "call": [{"name": "glob", "args": {"pattern": "${match.1}"}}]}
//	{"say": "That is all."}
//	{"system": "short title", "say": "A test"}
//
// A request with a Memo takes the step after the last one that its conversation
// took, so a failed or cancelled step is spent like any other. A conversation
// seen for the first time (a loaded session) begins at the place that its
// messages tell. One without a Memo does so at every request, and so does not
// get past a step that fails. A request for which there is no step is an error.
//
// # Templates
//
// In think, say, until, raw_args, and in strings within args:
//
//	${cwd}             the working directory of the session
//	${user}            the latest prompt
//	${match.N}         group N of the scene's "when"
//	${last_result}     the latest tool result, as the model reads it
//	${result.N}        the same for the N-th call since the prompt, from 0
//	${result.N.a.b}    a field of that result's data
//	${sidecar.N}       the file that holds the whole of a result that was cut
//	$${                a literal ${
//
// # Use
//
//	s, err := script.Load("demo.jsonl", file)
//	provider := s.Provider(script.Options{})
//
// The package has no part in the loop, in tools or in sessions. It imports
// model, transcript and the standard library and starts no goroutine.
//
// # Requirements
//
// R163 (scripted model), R165 (no network).
package script
