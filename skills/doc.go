// Package skills finds what a user or a project wrote down for agents: skills,
// which are folders with a SKILL.md that a model loads when it needs one, and
// the instruction files AGENTS.md, CLAUDE.md and CONTEXT.md. It also reads front
// matter and a user's own files for the packages that read agents.
//
// It owns where these are looked for and which of two wins, the front matter of
// a SKILL.md, the sizes that keep a system prompt small, and the safe opening of
// files that a foreign repository laid out: only regular files, no secrets, and
// for a project's files no link that leads out of it (opener). All of it is
// text: nothing that is found here is run, and "allowed-tools" of a skill
// allows nothing (T1).
//
// It refuses to know what a tool, a session or the network is. What it needs of
// them it is handed in [Options]: which names are secret, and how a URL is
// fetched.
//
//	library, warnings := skills.Discover(ctx, skills.Options{Cwd: cwd, Home: home, Secret: permissions.Secret})
//	prompt += library.Prompt()               // one line for each skill
//	content, err := library.Load("release")  // the body, read once
//
//	instructions, warnings := skills.LoadInstructions(options)
//	prompt += instructions.Text
//
// Both look at the disk once. What they return never changes, but for the
// bodies that Load reads.
//
// It imports kinds (what is invisible), internal/pathname, internal/rootfile (opening without
// waiting), internal/strictread (front matter) and internal/textcut. [Discover] starts one
// goroutine for each URL and has waited for all of them when it returns; nothing
// else starts any.
//
// # Requirements
//
// R84, R85, R86.
package skills
