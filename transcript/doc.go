// Package transcript is the vocabulary of a session: messages, their parts,
// and the stream of events that makes them. It is data only.
//
// A turn produces one stream of events. Everything else is a consumer of that
// stream: [Log] folds it into messages and parts (what the model is shown
// next, and what a store keeps), the ACP adapter turns it into session/update
// notifications, a parent agent shows it inside its own tool call.
//
//	log := transcript.NewLog()
//	log.Apply(transcript.PartStarted{MessageID: "msg_1", PartID: "prt_1", Kind: transcript.TextKind})
//	log.Apply(transcript.PartDelta{PartID: "prt_1", Text: "Hello"})
//	log.Messages()[0].Text() // "Hello"
//
// A message is encoded whole, subagents within it ([EncodeMessage]); [AfterRestart] closes what the end of a process left open.
//
// It imports kinds, internal/textcut and the standard library, knows neither protocol nor disk,
// and starts no goroutine.
//
// # Requirements
//
// R5 (envelope), R125 (states), R134 (stream order), R135 (messages and parts),
// R136 (ids), R139 (what a compaction leaves a model), R142 (truthful partial
// state), R61, R68 and R69 (records of subagents), R75, R80, R87, R141 (what is
// closed), R144.
package transcript
