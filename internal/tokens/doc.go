// Package tokens keeps what other sides gave the agent to prove who it speaks for: in the
// keyring of the system where that works, else in files that only this user can read.
//
// It owns where a token lies and that no two processes lose each other's: a change is made
// under a lock, on what is kept at that moment. A file stands for each token even when the
// keyring has it, so that no one asks the keyring for what was never kept. Nothing is made
// and no one is asked before the first use.
//
// It refuses to know what a token is and whom it is for.
//
//	store := tokens.New(dataDir, tokens.Auto)
//	err := store.Update(ctx, name, func(kept []byte) ([]byte, error) { return fresh, nil })
//	token, err := store.Load(ctx, name)
//
// Allowed imports: internal/userfile, and the library of keyrings. Asking
// the keyring takes a goroutine, which ends with the keyring's answer: one that is locked
// waits for the user, and no one waits for it longer than 20 s.
//
// # Requirements
//
// R92, docs/security.md D1.
package tokens
