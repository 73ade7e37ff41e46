// Package packagehosts reads which hosts the user's own settings give to package managers, so
// that a question about one of them can be about all of them.
//
// It owns where npm, pip, Go and Cargo keep such a setting, for the user and for the machine,
// and its syntax. It refuses to know a project's files, which may be hostile, and the
// hosts that a package manager uses by default.
//
//	for _, m := range packagehosts.Configured(home, os.Environ(), roots) {
//		fmt.Println(m.Name, m.Hosts)
//	}
//
// It imports internal/pathname and internal/regularfile. It starts no goroutines.
//
// # Requirements
//
// R124. docs/security.md N1, L1.
package packagehosts
