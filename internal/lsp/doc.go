// Package lsp asks language servers where something is defined, where it is
// used, and what is wrong with a file.
//
// It owns the conversation: which server speaks which language, when it is
// started and ended, the protocol's counting, and what a server is
// told and refused. A server is started at the first question about its language
// below a root; it sees the text of the question, not what the disk holds; and it
// never changes a file through us. One that crashes, hangs, prints rubbish or
// floods us costs the question that met it, and is started again for the next, at
// most three times in a row.
//
// It refuses to know tools, sessions, permissions and the agent's own protocol:
// how a process is started and confined comes in as a function, and what a
// question may be about is for its caller to judge. Files it opens through a function
// too, and only to count columns in files that a server points at below the root,
// and to see which are gone. It imports the standard library and, of this module,
// internal/peer, which speaks JSON-RPC, internal/supervise, which restarts servers,
// internal/fileuri, internal/pathname, internal/pause and internal/textcut.
//
// Goroutines: those of each server's peer, and one for each query, which ends with
// it. [Manager.Close] waits for all.
//
//	m := lsp.New(lsp.Options{Roots: roots, LookPath: lookPath, Start: start})
//	defer m.Close()
//
//	answer, err := m.Ask(ctx, lsp.Query{
//		Operation: lsp.Definitions, Path: "/work/main.go", Line: 3, Column: 7, Text: text,
//	})
//	if missing := (*lsp.MissingError)(nil); errors.As(err, &missing) {
//		// tell how to install one
//	}
//
// # Requirements
//
// R98 (definitions, references, diagnostics), R149 and R153 (nothing is left when
// the session ends). docs/security.md C10, X1, X4 and X6, and M2's bounds of frames and
// restarts.
package lsp
