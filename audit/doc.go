// Package audit keeps a tamper-evident record of tool calls: what each asked for, who decided, and what
// it changed.
//
// It owns the file of a session, <dir>/<session>.jsonl with mode 0600 in a directory with
// mode 0700: one JSON object a line, in order, each with the hash of the one before it and
// its own. The last member of a line is "hash", the SHA-256 of the bytes of the line before
// `,"hash"`; "prev" is the hash of the record before, zeros for the first. A second file,
// <session>.head, holds number and hash of the last record, so that missing lines at the end are
// noticed, too. The record has no contents of files: of a text that is not a name, path, address or
// command it has only hash and size.
//
// The chain shows accidents and edits by hand. It cannot stop a user who may write to the directory from
// rewriting all of it.
//
// A record is one write, which has reached the kernel when Append returns, so that a killed agent loses
// none. [Log.Sync] and Close write it to the disk; the pipeline calls Sync before a call that may change
// something starts. A write that was cut off, by a crash or a full disk, leaves a line that is not a
// record. The next record then is of the event "recovered" and holds that line's hash, and the chain
// continues from the last whole record.
//
// The package does not depend on tools, rules or the protocol. It imports internal/textcut,
// internal/userfile and the standard library, and starts no goroutines.
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
