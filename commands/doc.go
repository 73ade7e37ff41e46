// Package commands finds the slash commands that a user or a project wrote down as Markdown
// files, and makes the text of a prompt of one.
//
// It owns where these files are looked for and which of two wins, their front matter, and what
// placeholders in their text mean: the agent's own layout, that of Claude Code and that of
// opencode are each read as their documentation has it. All of it is text: nothing that is found
// here is run, and no field of a file allows anything (T1).
//
// It refuses to know what a session is, and it reads no file that a text mentions: [Mentions]
// finds them, and the session reads them where it may. Files of a project come from the snapshot
// that trust is bound to, so that exactly the trusted content is used.
//
//	set := commands.Load(commands.Options{Home: home, Dir: dir, Project: snapshot, Trusted: true})
//	if c, ok := set.Get("review"); ok {
//		text, err := c.Fill("src/auth.ts \"error handling\"")
//	}
//
// Allowed imports: internal/pathname, internal/strictread, kinds, permissions/projects, skills. It starts no
// goroutines.
//
// # Requirements
//
// R158.
package commands
