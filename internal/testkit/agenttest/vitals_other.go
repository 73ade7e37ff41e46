//go:build !unix

package agenttest

// reportVitals is for systems with signals.
func reportVitals() {}
