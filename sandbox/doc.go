// Package sandbox confines the processes that the agent starts: the third layer,
// behind the capability check and the rules (R124).
//
// It knows what a machine can do about it ([Kind]) and finds that out by trying,
// in the background ([Probe]), so that nothing waits for it but the first
// command. It does not judge commands and asks nobody.
//
// Goroutines: [Probe.Start] starts one, which ends when the finding is made.
//
// # Requirements
//
// R124. SECURITY.md S1 to S6.
package sandbox
