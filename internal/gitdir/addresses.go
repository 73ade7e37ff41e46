package gitdir

import (
	"os"
	"path/filepath"
)

// maxWithin bounds how deep repositories of submodules lie in each other, and names of theirs with slashes.
const maxWithin = 10

// Addresses are those among a repository's own files, by the absolute directory of its own data, that holds finds to keep an
// address of a remote with a user and password: its settings, what it fetched, and the directory of its logs. So are those of
// its submodules and further working trees.
func Addresses(data string, holds func(path string) bool) []string {
	return addresses(data, holds, maxWithin)
}

func addresses(data string, holds func(path string) bool, deep int) (found []string) {
	for _, name := range [...]string{"config", "config.worktree", "FETCH_HEAD"} {
		if path := filepath.Join(data, name); holds(path) {
			found = append(found, path)
		}
	}
	if logs := filepath.Join(data, "logs"); holds(filepath.Join(logs, "HEAD")) {
		found = append(found, logs)
	}
	for _, name := range [...]string{"modules", "worktrees"} {
		found = append(found, addressesWithin(filepath.Join(data, name), holds, deep)...)
	}
	return found
}

// addressesWithin looks in a directory of repositories, whose names may have slashes.
func addressesWithin(dir string, holds func(path string) bool, deep int) (found []string) {
	entries, err := os.ReadDir(dir)
	if err != nil || deep == 0 {
		return nil // what cannot be listed can be read by no one either
	}
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		switch {
		case !entry.IsDir():
		case MayExist(filepath.Join(path, "HEAD")):
			found = append(found, addresses(path, holds, deep-1)...)
		default:
			found = append(found, addressesWithin(path, holds, deep-1)...)
		}
	}
	return found
}
