// Package record records what a model provider says, or answers in its place from a recording.
//
// It owns the form in which requests and chunks of a provider stand in a recording. It is for
// providers without a transport, such as a scripted model: those over HTTP are recorded below
// their clients, by internal/record, so that a replay runs the clients too.
//
// It does not decide where recordings are kept. It imports internal/record, model and
// transcript, and starts no goroutines.
//
//	provider = record.Provider(tape, provider)
//
// # Requirements
//
// R144 (the trace of the protocol).
package record
