//go:build !unix

package main

// reportVitals is for systems with signals.
func reportVitals() {}
