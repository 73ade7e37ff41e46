// Package userfile keeps the agent's own files from other users of the machine.
//
// It owns what "this user's alone" means ([Owned]), and makes, checks and opens
// directories and files that are (D1). It replaces a file in one step, and locks against
// other processes, files ([Lock]) and names ([Ranges]). On systems whose mode bits mean nothing, the access
// list that they inherit from the user's profile is trusted.
//
// It refuses to know what the files hold and where they lie. It imports the standard
// library, internal/rootfile, x/sys and gofrs/flock, and starts no goroutines.
//
//	if err := userfile.MakeDir(dir); err != nil { ... }
//	file, err := userfile.Open(filepath.Join(dir, name), os.O_RDONLY)
//
// # Requirements
//
// docs/security.md D1.
package userfile
