//go:build !linux

package sandbox

// Inner is for Linux alone.
func Inner([]string) int { return 2 }
