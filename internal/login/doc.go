// Package login stores the one model server that `acp-agent login` chose, and its key.
//
// It owns where both lie: the server in a private file, the key with the tokens, in the
// keyring or in a file. A key is stored under the address of its server, so that it is
// found for no other. A login takes the place of the one before, whose key is forgotten. A
// change is made under a lock against other processes.
//
// It refuses to know what else is in the description of a server, and what comes before a
// login: that is config's.
//
//	store := login.Store{Path: path, Tokens: tokens.New(dataDir, tokens.Auto)}
//	err := store.Save(ctx, "https://example.com/v1", description, key)
//	key, err := store.Key(ctx, "https://example.com/v1")
//
// Allowed imports: internal/tokens and internal/userfile. It starts no goroutines.
//
// # Requirements
//
// R147 (authenticate and logout), docs/security.md D1.
package login
