// Package gitdir finds the repository that git would use in a directory, as
// gitrepository-layout(5) describes it: the directory .git in it or above it, or what the
// file .git of a linked worktree leads to.
//
// It owns where a repository lies, which plain kind it is, and where it keeps contents and
// addresses. It refuses to know git's
// configuration, its objects and its index, and whether a caller may read what it finds.
//
//	repo, ok := gitdir.Find("/home/ann/src/app/cmd")
//	config, err := gitdir.Read(filepath.Join(repo.Common, "config"), 1<<20)
//
// It imports internal/pathname and internal/regularfile. It starts no goroutines.
//
// # Requirements
//
// R119. docs/security.md C9, S3.
package gitdir
