// Package record records everything that a process receives from outside, and replays it.
//
// It owns the file format of recordings, their writing without secrets, their reading, and the [Tape]
// through which the agent asks everything outside of it: it passes a question on and records the answer,
// or answers from a recording. A nil Tape costs a comparison with nil.
//
// It does not depend on what is asked: answers, steps and frames are JSON to it. It imports
// internal/jsonscan and internal/redact.
//
// Goroutines: one for each [Recorder], which Close ends; one that calls Options.Failed.
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
