//go:build !linux

package main

// harden has no counterpart here.
func harden() error { return nil }
