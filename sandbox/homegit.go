package sandbox

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"acp-agent/internal/redact"
)

// lazily compiles an expression at its first use: the helper of each command has no use
// for them.
func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// mostSettings is how large a file of settings may be to be looked through; a larger one
// is not shown.
const mostSettings = 1 << 18

// assigned finds a value under a name that says that it is a credential, in the forms of
// INI, TOML, YAML, JSON, XML and properties.
var assigned = lazily(`(?i)(token|passw(or)?d|passphrase|secret|api[-_]?key|apikey|_auth|authorization|extraheader|credential|privatekey|private[-_]key|smtppass)[\w.-]*"?\s*(=|:|>|value=)\s*\S|/t/[\w-]{8,}/|https?://[^/\s"'@]+@`)

// harmless finds the names that look like a credential's and are not.
var harmless = lazily(`(?i)^\s*(\[credential|(global-)?credential-providers?\s*=)`)

// clean reports whether a file of settings holds nothing that looks like a credential. A
// file that cannot be read is not.
func clean(path string) bool {
	text, err := readSettings(path)
	return err == nil && !slices.ContainsFunc(bytes.Split(text, []byte("\n")), holdsCredential)
}

func holdsCredential(line []byte) bool {
	return redact.Holds(string(line), nil) || assigned().Match(harmless().ReplaceAll(line, nil))
}

func readSettings(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > mostSettings:
		return nil, errors.New("it is not a file of settings")
	}
	return os.ReadFile(path)
}

func isGitConfig(name string) bool { return name == ".gitconfig" || name == ".config/git/config" }

// gitPaths finds the settings of git that name a file.
var gitPaths = lazily(`(?im)^\s*(?:path|excludesfile|attributesfile|template|ignorerevsfile|allowedsignersfile|mailmap(?:\.file)?|file)\s*=\s*"?([^"\n]+?)"?\s*$`)

// gitFiles are the files that the shown settings of git lead to, such as included ones.
func (g homeGate) gitFiles(shown []string, memory *homeMemory) []string {
	var files []string
	for _, path := range shown {
		if base := filepath.Base(path); base != ".gitconfig" && base != "config" || base == "config" && filepath.Base(filepath.Dir(path)) != "git" {
			continue
		}
		for _, name := range memory.gitNamed.of(path, gitNamed) {
			if rest, ok := strings.CutPrefix(name, "~/"); ok {
				name = filepath.Join(g.dir, rest)
			} else if !filepath.IsAbs(name) {
				name = filepath.Join(filepath.Dir(path), name)
			}
			if g.opens(name) && memory.clean.of(name, clean) {
				files = append(files, name)
			}
		}
	}
	return files
}

// gitNamed are the files that settings of git name, as they are written there.
func gitNamed(path string) []string {
	text, err := readSettings(path)
	if err != nil {
		return nil
	}
	var names []string
	for _, found := range gitPaths().FindAllSubmatch(text, -1) {
		names = append(names, string(found[1]))
	}
	return names
}

// settingsCopies writes the copies of settings. The zero value is ready.
type settingsCopies struct{ mu sync.Mutex }

// keep writes a copy into a session's own directory, under a name that its bytes give it:
// one that a command reads is never written again.
func (c *settingsCopies) keep(dir, name string, text []byte) (path string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sum := sha256.Sum256(text)
	path = filepath.Join(dir, name+"-"+hex.EncodeToString(sum[:8]))
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, text) {
		return path, nil
	}
	return path, os.WriteFile(path, text, 0o600)
}

// gitEnv leads git to settings without credentials where the user's own settings hold one:
// the same lines but for those. Git fails on settings that are there and cannot be read,
// so they are not merely hidden.
func (c *settingsCopies) gitEnv(v homeView, private string, memory *homeMemory) []string {
	if len(v.gitConfig) == 0 {
		return nil
	}
	const none = "GIT_CONFIG_GLOBAL=" + os.DevNull
	if private == "" {
		return []string{none}
	}
	var text []byte
	for _, path := range v.gitConfig {
		kept := memory.gitKept.of(path, gitKept)
		if kept == nil {
			return []string{none}
		}
		text = append(text, kept...)
	}
	path, err := c.keep(private, "gitconfig", text)
	if err != nil {
		return []string{none}
	}
	return []string{"GIT_CONFIG_GLOBAL=" + path}
}

// gitKept are the settings of a file without credentials; nil when it cannot be read.
func gitKept(path string) []byte {
	text, err := readSettings(path)
	if err != nil {
		return nil
	}
	return append([]byte{}, withoutCredentials(text)...)
}

// withoutCredentials drops the settings that hold a credential, and what includes other
// files. A setting may go on in the next line.
func withoutCredentials(text []byte) []byte {
	var kept, whole []byte
	for line := range bytes.Lines(text) {
		whole = append(whole, line...)
		if bytes.HasSuffix(bytes.TrimRight(line, "\r\n"), []byte(`\`)) {
			continue
		}
		if !holdsCredential(bytes.ReplaceAll(whole, []byte("\n"), []byte(" "))) && !gitInclude().Match(whole) {
			kept = append(kept, whole...)
		}
		whole = nil
	}
	if len(kept) > 0 && kept[len(kept)-1] != '\n' {
		kept = append(kept, '\n')
	}
	return kept
}

var gitInclude = lazily(`(?i)^\s*path\s*=`)

// gitDataOf is where the data of a submodule lies, if that says so itself: the file that leads
// there may have been written by a command.
func (g homeGate) gitDataOf(root string) []string {
	git := filepath.Join(root, ".git")
	text, err := readSettings(git)
	if err != nil {
		return nil
	}
	name, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	if !ok {
		return nil
	}
	dir := resolved(absolute(name, root))
	config, err := readSettings(filepath.Join(dir, "config"))
	if dir == "" || err != nil || !g.opens(dir) {
		return nil
	}
	found := gitWorktree().FindSubmatch(config)
	if found == nil || resolved(absolute(string(found[1]), dir)) != resolved(root) {
		return nil
	}
	return []string{dir}
}

var gitWorktree = lazily(`(?m)^\s*worktree\s*=\s*(.+?)\s*$`)

// absolute is a path that is meant from a directory.
func absolute(path, from string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(from, path)
}
