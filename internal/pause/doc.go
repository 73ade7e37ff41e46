// Package pause sleeps until a time has passed or a context ends.
//
// It owns [For] and nothing else. It does not know why its caller waits. It imports the
// standard library and starts no goroutines.
//
//	if err := pause.For(ctx, 300*time.Millisecond); err != nil {
//		return err
//	}
//
// # Requirements
//
// R149 (a wait ends with what it belongs to).
package pause
