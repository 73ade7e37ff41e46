// Package record keeps what a process is told from outside, and tells it the same again.
//
// It owns the file format of recordings, their writing without secrets, their reading, and the
// [Tape] that the agent asks wherever the world outside has a say: it passes the question on
// and records the answer, or answers from a recording. A nil Tape costs a comparison with nil.
//
// It refuses to know what is asked: answers, steps and frames are JSON to it. It imports
// internal/redact.
//
// Goroutines: one for each [Recorder], which Close ends.
//
//	recorder, err := record.Create("bug.jsonl", record.Options{Header: header, Clean: clean})
//	tape := record.RecordTo(recorder)
//	now := record.Value(tape, "time", "", time.Now)
//
//	recording, err := record.Read(file)
//	tape := record.PlayFrom(record.NewPlayer(recording))
//
// # Requirements
//
// R144 (the trace of the protocol). docs/security.md D3 (no key is written).
package record
