// Package private is the directory that a session has for itself: sidecars,
// scratch files, pre-images of changed files, and what a command's helper is
// handed.
//
// It owns the directory's name, its parts, its lock and its end: [Dir.Create]
// creates it with its first use, [Dir.Remove] deletes it with the session, and
// [Sweep] deletes what sessions of killed processes left. It does not know what
// lies in the parts.
//
// It imports internal/userfile, internal/pathname and a file lock, and starts no
// goroutines.
//
//	dir, err := private.New(stateDir, sessionID)
//	if err != nil { ... }
//	defer dir.Remove()
//	if err := dir.Create(); err != nil { ... }
//
// # Requirements
//
// R107 (the session's directory and its end). docs/security.md D2.
package private
