package command

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// GitConfigPrograms returns the keys in a git configuration file that can make git run a program, in their
// order. Where it does not understand the file, it adds an entry that says where, and reads no further. A
// caller compares the answers before and after a command (S3), and takes any entry for a program.
func GitConfigPrograms(config string) []string {
	var keys []string
	for _, setting := range readGitConfig(config, gitKeyRuns).found {
		keys = append(keys, setting.key)
	}
	return keys
}

// GitConfigSettings returns what GitConfigPrograms does, with the values: "key=value" as written, or the key
// alone for a setting without a value.
func GitConfigSettings(config string) []string {
	found := readGitConfig(config, gitKeyRuns).found
	settings := make([]string, len(found))
	for i, setting := range found {
		settings[i] = setting.key + setting.value
	}
	return settings
}

// readGitConfig finds the settings whose keys are wanted.
func readGitConfig(config string, wanted func(key string) bool) gitConfig {
	c := gitConfig{wanted: wanted, text: strings.TrimPrefix(strings.ReplaceAll(config, "\r\n", "\n"), "\ufeff")}
	noText := strings.Contains(config, "\x00") // which the reader takes for the end
	for c.at < len(c.text) {
		if noText || !c.item() {
			line := 1 + strings.Count(c.text[:min(c.at, len(c.text))], "\n")
			c.broken = true
			c.found = append(c.found, gitSetting{key: fmt.Sprintf("line %d is not understood", line)})
			return c
		}
	}
	return c
}

// gitConfig reads the syntax of git's configuration: a section header and keys may share a line, and a value
// may continue on the next one.
type gitConfig struct {
	text    string
	at      int
	section string
	found   []gitSetting
	wanted  func(key string) bool
	// broken says that the file is not understood, at the last of found.
	broken bool
}

// gitSetting is a key, and what follows it as written: "=value" or nothing.
type gitSetting struct{ key, value string }

// next consumes one byte. It returns 0 at the end, since no text file holds that byte.
func (c *gitConfig) next() byte {
	if c.at >= len(c.text) {
		return 0
	}
	c.at++
	return c.text[c.at-1]
}

// take consumes the bytes at the front that are in a set.
func (c *gitConfig) take(set string) string {
	rest := strings.TrimLeft(c.text[c.at:], set)
	taken := c.text[c.at : len(c.text)-len(rest)]
	c.at += len(taken)
	return taken
}

func (c *gitConfig) skipLine() {
	if end := strings.IndexByte(c.text[c.at:], '\n'); end >= 0 {
		c.at += end + 1
		return
	}
	c.at = len(c.text)
}

const gitNameBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-"

// item reads a blank, a comment, a header or a key with its value.
func (c *gitConfig) item() (ok bool) {
	c.take(" \t\n")
	if c.at >= len(c.text) {
		return true
	}
	switch c.text[c.at] {
	case '#', ';':
		c.skipLine()
		return true
	case '[':
		c.at++
		return c.header()
	}
	key := c.take(gitNameBytes)
	if key == "" || c.section == "" {
		return false
	}
	c.take(" \t")
	from := c.at
	switch c.next() {
	case '=':
		ok = c.value()
	case '\n', 0:
		ok = true
	}
	if full := c.section + "." + key; ok && c.wanted(full) {
		c.found = append(c.found, gitSetting{full, strings.TrimSpace(c.text[from:c.at])})
	}
	return ok
}

// header reads what follows "[": a name, and a quoted subsection.
func (c *gitConfig) header() bool {
	name := c.take(gitNameBytes + ".")
	if name == "" {
		return false
	}
	c.section = strings.ToLower(name)
	blank := c.take(" \t")
	switch c.next() {
	case ']':
		return blank == ""
	case '"':
		if blank == "" {
			return false
		}
	default:
		return false
	}
	var sub strings.Builder
	for {
		b := c.next()
		switch b {
		case '"':
			c.section += "." + sub.String()
			return c.next() == ']'
		case '\\':
			if b = c.next(); b == 0 || b == '\n' {
				return false
			}
		case 0, '\n':
			return false
		}
		sub.WriteByte(b)
	}
}

// value skips a value: quotes keep comment marks, and a backslash continues the line.
func (c *gitConfig) value() bool {
	quoted := false
	for {
		switch c.next() {
		case '"':
			quoted = !quoted
		case '\\':
			if !strings.ContainsRune("nbt\\\"\n", rune(c.next())) {
				return false
			}
		case '#', ';':
			if !quoted {
				c.skipLine()
				return true
			}
		case '\n', 0:
			return !quoted
		}
	}
}

// writesGitConfig reports a command of git that may write the configuration of a repository: each whose
// subcommand is not known to leave that alone. No alias can take the name of one of those.
func writesGitConfig(s simple) bool {
	return s.name() == "git" && !hasWord("status log diff show add commit rm mv restore reset revert stash tag merge rebase "+
		"cherry-pick blame annotate grep describe ls-files ls-tree ls-remote rev-parse rev-list clean reflog shortlog cat-file "+
		"merge-base name-rev for-each-ref show-ref symbolic-ref update-ref count-objects diff-tree diff-index diff-files "+
		"check-ignore check-attr merge-tree merge-file apply am format-patch range-diff cherry notes var version archive bundle "+
		"fsck gc repack prune pack-refs read-tree write-tree update-index checkout-index hash-object", subcommand(s))
}

// gitPlainKeys matches the keys of git's configuration, in lower case, whose value is not a secret and is
// what git uses without GitEnv, too. A remote of a branch is not among them: it may be an address.
var gitPlainKeys = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(user\.(name|email)|init\.defaultbranch|` +
		`core\.(autocrlf|bare|eol|excludesfile|filemode|ignorecase|logallrefupdates|precomposeunicode|quotepath|repositoryformatversion|safecrlf|symlinks)|` +
		`branch\.[a-z0-9._/-]+\.(merge|rebase)|pull\.(ff|rebase)|push\.(autosetupremote|default)|fetch\.prune|merge\.(conflictstyle|ff)|` +
		`rebase\.(autosquash|autostash)|rerere\.enabled|commit\.gpgsign|tag\.gpgsign|gpg\.format|diff\.(algorithm|renames)|color\.ui)$`)
})

// gitAddressKeys matches the keys that "git remote get-url" prints, too.
var gitAddressKeys = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^remote\.[a-z0-9._/-]+\.(url|pushurl)$`)
})

// gitConfigReads allows git config to print the value of one key that is known to hold no secret. A list asks,
// since a header or a password may be among its values. A second operand would be written.
func (l *listing) gitConfigReads(part *Part, p parsed, at dirs) finding {
	keys := p.operands
	if len(keys) > 1 && keys[0].value == "get" { // an older git takes it for a key, which it refuses without a dot
		keys = keys[1:]
	}
	if len(keys) != 1 {
		return asks(Unlisted, "git config with more or less than a key is not on the list of what only reads")
	}
	switch key := strings.ToLower(keys[0].value); {
	case gitPlainKeys().MatchString(key):
		return finding{}
	case gitAddressKeys().MatchString(key) && !p.has("--global"):
		return l.gitAddresses(part, at)
	}
	return asks(Unlisted, "the setting "+keys[0].value+" of git is not on the list of settings that hold no secret")
}
