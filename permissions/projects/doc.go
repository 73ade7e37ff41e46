// Package projects keeps what the user decided about a project: the rules
// that they allowed for it, and whether they trust it.
//
// It owns the files of these decisions, one a project, in the user's data
// directory and never in the repository, and it knows which files of a project
// are its executable configuration and its agents, whose content trust is bound
// to. Several processes share the files: each is written whole, under a lock. A
// file that cannot be read is set aside and reported, and its project counts as
// one that nothing was decided about.
//
// It refuses to know rules' meaning, sessions, the protocol and the
// configuration. It imports permissions and capability for the form of a rule, internal/textedit
// for the difference between two texts, internal/pathname, internal/rootfile and
// internal/userfile. It starts no goroutines.
//
//	store := projects.New(dataDir)
//	record, err := store.Load("/work/shop")
//	snapshot, err := projects.Scan("/work/shop")
//	if record.Trusts(snapshot) {
//		// the user trusts this project with this very content
//	}
//
// # Requirements
//
// R114 (stored rules have a source and a time), R117 (trust in a project), R123
// (the answer "for this project").
package projects
