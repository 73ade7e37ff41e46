// Package timeline remembers what happened to files between the user's messages: one [Span] for
// each message, with the changes that followed it, by any agent or command of the session. Each message
// so is a checkpoint.
//
// It owns the order of spans and changes, what they come to for each path ([Timeline.Net]), which
// spans are undone and what that replaced, where the bytes of former states are kept, and the form
// in which all of it survives a restart. It touches no file of the user's, and decides nothing about
// files that others changed.
//
// Bytes are kept by a [Contents], several files in one stored content, and named by their SHA-256.
// Records are kept by a [Records]: one value for each span and each group of changes, so that the
// record of a long session grows by what is new alone.
//
// It imports the standard library and starts no goroutines.
//
//	line := timeline.New(timeline.Options{Contents: contents, Records: recorder})
//	line.Begin(messageID)
//	line.Add(timeline.Group{Changes: changes})
//
//	for _, net := range line.Net(len(line.Spans()) - 1) { ... } // what an undo puts back
//
// # Requirements
//
// R127, R128 (changes and their order), R142 (rewind). docs/security.md D1.
package timeline
