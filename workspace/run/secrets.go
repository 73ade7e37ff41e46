package run

import (
	"path/filepath"
	"slices"

	"acp-agent/internal/pathname"
)

// How many secrets are hidden from a command.
const (
	// maxSecrets is of a command that only reads.
	maxSecrets = 20_000
	// maxMounted is of any other command: each secret is a mount, and a mount takes longer the
	// more of them there are.
	maxMounted = 100
)

// SecretFiles are the files and directories in the session's directories that a command
// must not read, as a search found them.
type SecretFiles struct {
	paths []string
	// objects are where git keeps the content of files.
	objects []string
	// addresses are the files in which git keeps a user and password.
	addresses []string
}

// ReadingSecrets searches for what is hidden from a command that only reads. whole is false
// where there is too much to search, or to hide.
func (r *Runner) ReadingSecrets() (found *SecretFiles, whole bool) {
	seen := r.search(searchQuery{secrets: true, reading: true})
	return &SecretFiles{seen.secrets[:min(len(seen.secrets), maxSecrets)], seen.objects, seen.addresses}, seen.whole && len(seen.secrets) <= maxSecrets
}

// OpenSecrets counts the secrets that a command that does more than read could read, because there are more
// than can be hidden from it. whole is false where there is too much to search for secrets and
// protected names.
func (r *Runner) OpenSecrets() (open int, whole bool) {
	seen := r.search(searchQuery{secrets: true, names: true})
	return max(0, len(seen.secrets)-maxMounted), seen.whole
}

// holdersOf are the directories between the roots and the secrets. One that is moved into a
// directory of dependencies would be open to the next command there.
func holdersOf(secrets, roots []string) (dirs []string) {
	for _, path := range secrets {
		for _, root := range roots {
			for dir := filepath.Dir(path); dir != root && pathname.Contains(root, dir); dir = filepath.Dir(dir) {
				if !slices.Contains(dirs, dir) {
					dirs = append(dirs, dir)
				}
			}
		}
	}
	return dirs
}
