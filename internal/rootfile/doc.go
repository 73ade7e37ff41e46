// Package rootfile does to names below an open directory what [os.Root] does not
// offer: it exchanges two of them at once, and renames without writing over
// anything.
//
// It owns those calls of each system and what to do where there are none
// ([errors.ErrUnsupported]). It opens no path: all that it works on lies directly
// in a directory that its caller holds open.
//
// It imports the standard library and golang.org/x/sys/unix, and starts no goroutines.
//
//	err := rootfile.Exchange(dir, "file.tmp", "file")
//	if errors.Is(err, errors.ErrUnsupported) { ... } // look, and then rename
//
// # Requirements
//
// R128 (a change loses no file of the user's). docs/security.md P2.
package rootfile
