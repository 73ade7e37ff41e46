// Package transcript is the vocabulary of a session: messages, their parts,
// and the stream of events that makes them. It is data only.
//
// A turn produces one stream of events. Everything else consumes that stream: [Log] folds it into messages
// and parts, which the next request to the model has, and so does the store; the ACP adapter turns it into
// session/update notifications; a parent agent shows it inside its own tool call.
//
//	log := transcript.NewLog()
//	log.Apply(transcript.PartStarted{MessageID: "msg_1", PartID: "prt_1", Kind: transcript.TextKind})
//	log.Apply(transcript.PartDelta{PartID: "prt_1", Text: "Hello"})
//	log.Messages()[0].Text() // "Hello"
//
// [EncodeMessage] encodes a message with its subagents; [AfterRestart] closes what the end of a process left
// open; [Unfold] turns a message into events again.
//
// It imports kinds, internal/textcut and the standard library. It depends on neither protocol nor disk, and
// starts no goroutine.
//
// # Requirements
//
// R5 (envelope), R125 (states), R134 (stream order), R135 (messages and parts),
// R136 (ids), R139 (what a compaction leaves a model), R142 (truthful partial
// state), R61, R68 and R69 (records of subagents), R75, R80, R87, R141 (what is
// closed), R144.
package transcript
