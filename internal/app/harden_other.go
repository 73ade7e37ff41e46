//go:build !linux

package app

// harden has no counterpart here.
func harden() error { return nil }
