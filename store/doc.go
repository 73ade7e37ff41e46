// Package store keeps conversations on the disk, so that they outlive the editor, the crash and
// the laptop lid.
//
// It owns the directory of the sessions and everything in it: the record of each session, the
// lock that lets one process at a time write it, the list, the search, forks, and the contents
// that a record refers to (blobs). The conversation of an opaque subagent is stored in its
// parent's file; an inspectable subagent is a session with a file of its own (R69). It does not
// know the protocol, the rules of a session, or what its values of [Recorder.Put] mean. It imports
// compaction, transcript, kinds, internal/jsonscan and internal/userfile, and klauspost/compress for zstd. The
// goroutines that it starts are listed at [Recorder]; List, Search and Resume wait for theirs.
//
//	s := store.New(store.Options{Dir: dir, Clean: clean})
//	r := s.Create(store.Info{ID: id, Cwd: cwd}, warn) // touches no disk
//	r.Emit(event)                                     // with every event that the Log is fed with
//	r.Close()
//
//	r, err := s.Open(id, warn) // a *BusyError names the process that has it
//	snapshot, lost, err := r.Resume(ctx, time.Now(), replay)
//	log := transcript.NewLog(snapshot.Messages...)
//
// # Files
//
// The directory has mode 0700 and all files have 0600.
//
//	ses_X.jsonl        the record of session ses_X: lines are only ever added
//	ses_X.live         texts that still grow; it is there while the session is open
//	ses_X.owner        pid, host and time of the process that has the session open
//	ses_X.blobs/       names of the blobs that the session refers to
//	blobs/ab/abcd...   contents by their SHA-256, .zst when compressed
//	locks              one byte of it is locked for each open session
//	list.cache         what a list shows of the sessions; it can be deleted at any time
//	list.opened        which sessions were opened, so that a list looks at these alone
//
// # Lines
//
// A line is one JSON object in one of R135's three shapes, with its members in this order:
//
//	{"type":"message","seq":7,"at":1763900000123,"of":"msg_1","role":"user","data":{...},"sum":"1a2b3c4d"}
//
// "type" is session, message or part. "seq" counts the lines from 1. "at" is the time in
// milliseconds. "sub" names the subagent whose conversation the line belongs to; without it the
// line is of the session's own. "of" is the message, "role" its role unless it is assistant, and
// "n" is the number of the part in it. "sum" is the CRC-32C of everything before `,"sum"`. What
// the line does is "op"; without it, "data" takes the place of what an earlier line said of the
// same session, message or part:
//
//	session            Info: where and what the session is, its turn, its usage. Written at each
//	                   turn's end, so that the last of a file says it.
//	session memory     transcript.Memory
//	session state      the value that Put stored under the key "of"
//	session child      the record of subagent "sub", and the call ("in", "call") that spawned it
//	message            transcript.Message without parts
//	message drop       the message is withdrawn: it was asked for again
//	message hide       it and all visible ones after it are hidden: a refusal, which says so, an undo
//	message show       what its hide hid is visible again: a redo
//	part               the part in the form of transcript.EncodePart, without its subagent
//	part call          the state of a tool call
//	part end           a tool call as it ended, without the input, which the line before has
//	part grow          in the live file: more of a text, from byte "from" on
//
// A line that is damaged costs itself: [Damage] counts it and says where it is, and what it would
// have changed stays as the lines before had it. A line without an end is what a killed process
// was writing; the next one that opens the session cuts it. Lines whose number was seen are
// skipped: after a sync that failed, all lines since the last good one are written again.
//
// # When what is on the disk
//
// Written means that the kernel has it before Emit returns, and a kill loses nothing. Synced
// means that a power cut loses nothing. An event that must be written or synced before Emit
// returns is a boundary; all others wait for the next one or for Options.GroupDelay.
//
//	deltas of texts            written within 50 ms, to the live file; never synced
//	ToolReady, end of a step   written, and so is what Put stores
//	user message, result       written; a sync starts at once, and no one waits for it
//	a call that waits for the user  as a user message: the question is to survive
//	a call with effects begins synced: after a power cut it is known that it may have run
//	end of a turn, undo, redo  synced: the prompt is answered after it
//
// A write of some hundred bytes takes about 10 µs, a sync 0.2 to 1 ms and now and then 10. Reading
// calls therefore never wait for a disk, and a turn waits for it once, and once more for each call
// with effects. The end of a growing text waits until the line goes on when Options.Clean is given,
// so that a secret that arrives in pieces is seen as one.
//
// # Faults
//
// A disk that is full, read-only or gone does not stop the session. Its lines wait in memory; the
// fault is told once; and each boundary tries again and writes everything that is missing, in
// order.
//
// # Requirements
//
// R61, R75, R80 (memory and open questions are stored), R68, R69 (subagents, inspectable ones as
// sessions of their own), R107, R149 (contents that a session refers to live as long as it), R134
// (one stream), R135 (three shapes), R136 (ids), R141 (restart), R142 (partial state, hide, fork),
// R144 (lines). docs/security.md D1, D3.
package store
