// Package replay runs an agent again with what a recording has, and finds the first difference.
//
// It owns the order in which recorded lines are handed to the agent, and the comparison of what
// the agent sends with what was recorded: which order has to be equal, and which is free. It
// refuses to know the agent: what serves a connection is handed to it. It imports
// internal/record.
//
// Goroutines: one that hands lines to the agent, and one that serves. Run waits for both, for the latter at most
// endTime.
//
//	result, err := replay.Run(ctx, player, serve)
//
// # Requirements
//
// R144 (the trace of the protocol).
package replay
