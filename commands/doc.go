// Package commands finds the slash commands in Markdown files of the user and of a project, and fills
// their text in with what was typed.
//
// It owns the directories of these files and which of two wins, their front matter, and the meaning of
// the placeholders in their text, for the agent's own layout, Claude Code's and opencode's, each as
// documented. All of it is text: nothing in these files is run, and no field of a file allows anything
// (T1).
//
// It does not depend on sessions, and reads no file that a text mentions: [Mentions] finds the mentions,
// and the session reads the files that it may. Files of a project come from the snapshot to which trust
// is bound, so that exactly the trusted content is used.
//
//	set := commands.Load(commands.Options{Home: home, Dir: dir, Project: snapshot, Trusted: true})
//	if c, ok := set.Get("review"); ok {
//		text, err := c.Fill("src/auth.ts \"error handling\"")
//	}
//
// Allowed imports: internal/pathname, internal/record, internal/strictread, kinds, permissions/projects, skills. It starts no
// goroutines.
//
// # Requirements
//
// R158.
package commands
