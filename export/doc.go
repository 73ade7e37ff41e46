// Package export writes a stored conversation for readers and for other programs: as JSON lines,
// as Markdown, as one HTML page that needs no other file, and as text for a terminal.
//
// It owns these forms, what is left out of all of them, and what [Redaction] takes out for
// sharing. It does not decide where conversations are kept or who may read them, and opens no
// files: it writes to an io.Writer, one message at a time. It imports store for what is known of a session,
// transcript, kinds, audit and internal/ansi, and sergi/go-diff and go-udiff for changes. It starts no
// goroutines.
//
//	c := export.Of(stored)
//	err := export.Write(ctx, w, export.HTML, c, export.Options{})
//
// # What is left out
//
// What a model server wants back unchanged, such as a signature of a thought, is for that server
// alone. Contents that a session only refers to, such as what stood in a file before an edit,
// are not copied: an edit shows its own text before and after.
//
// # JSON lines
//
// Each line is an object with a "type". Later versions may add members and types, but change none; a
// reader passes over the ones that it does not know.
//
//	session   "format": 1, "session": store.Info, "plan", "notes": what the reader should know
//	message   "message": transcript.Message without its parts; "subagent", the id of the subagent
//	          whose conversation it belongs to, when it is not of the session's own
//	part      "of": the message, "n": its number there from 0, "subagent" as above, "part": as
//	          transcript.EncodePart; "decision" of a tool call: "verdict", "by", "reason"
//	subagent  "call": the call that spawned it, "subagent" as above, "record":
//	          transcript.ChildRecord; its messages follow
//
// A message stands before its parts, and a call before its subagent.
//
// # The page
//
// Everything in it is written through [page.put], which escapes what is not a [markup] of this
// package's own. html/template is not used: like text/template it calls methods by their names,
// which keeps the linker from dropping any (rules_test.go). A content security policy forbids
// the page to load anything, and to run any script but its own.
//
// # Requirements
//
// R144 (export). docs/security.md D3 (redaction).
package export
