// Package replay replays a recording with an agent, and finds the first difference.
//
// It owns the order in which recorded lines are passed to the agent, and the comparison of the lines that
// the agent sends with the recorded ones: which order has to be the same, and which is free (see commute). It does
// not depend on the agent: Run gets the function that serves a connection. It imports internal/record
// and internal/pause.
//
// Goroutines: one that passes lines to the agent, and one that serves. Run waits for both, for the second at
// most endTime.
//
//	result, err := replay.Run(ctx, player, serve)
//
// # Requirements
//
// R144 (the trace of the protocol).
package replay
