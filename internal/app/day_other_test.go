//go:build !unix

package app

// reportVitals is for systems with signals.
func reportVitals() {}
