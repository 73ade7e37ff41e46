// Package audit keeps a record of what tool calls asked for, who decided, and what they
// changed, in a form in which later changes are noticed.
//
// It owns the file of a session, <dir>/<session>.jsonl with mode 0600 in a directory with
// mode 0700: one JSON object a line, in order, each with the hash of the one before it and
// its own. The last member of a line is "hash", the SHA-256 of the bytes of the line before
// `,"hash"`; "prev" is the hash of the record before, zeros for the first. Beside it,
// <session>.head holds number and hash of the last record, so that lines cut off at the end
// are noticed, too. Contents of files are never in it: a text that is not a name, path, address
// or command stands there as its hash and size.
//
// The chain shows accidents and edits by hand. It cannot stop a user who may write the
// directory from writing the whole of it anew.
//
// A record is one write, which the kernel has when Append returns: a killed agent loses
// none. [Log.Sync] brings them to the disk, as Close does: callers wait for it before a call that
// may change something begins. A write that was cut, by a crash or a full disk, leaves a
// line that is not a record; the next record is of the event "recovered" and holds that line's
// hash, and the chain goes on from the last whole record.
//
// The package refuses to know tools, rules and the protocol. It imports internal/userfile
// and the standard library, and starts no goroutines.
//
//	log := audit.New(audit.Options{Dir: dir, Session: id, Failed: warn})
//	log.Append(audit.Record{Event: audit.End, Call: callID, Tool: "bash", Verdict: "allow", By: "person: allow_once"})
//	log.Close()
//	report, err := audit.Verify(dir, id) // report.Problem says where the chain breaks
//
// # Requirements
//
// R129 (who changed which file, and when). docs/security.md D1, D3.
package audit
