//go:build !linux && !darwin

package userfile

// checkRoom trusts that files can be made.
func checkRoom(string) error { return nil }
