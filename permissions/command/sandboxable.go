package command

import (
	"path/filepath"
	"slices"
	"strings"

	"acp-agent/capability"
	"acp-agent/permissions"
)

// Sandboxable reports a part that asks only because it is not known to only read, so that a sandbox makes it
// harmless. It names nothing outside the roots, no secret and nothing protected (P5), publishes nothing,
// discards nothing that only git keeps, and uses no program outside of the sandbox. Unknown words are as
// harmless as a script that runs in the sandbox. A part that is allowed or denied is not sandboxable.
func (p Part) Sandboxable() bool {
	return p.Action == capability.Ask && p.whyNotSandboxable() == ""
}

// whyNotSandboxable says why no sandbox makes the part harmless. Empty: one does.
func (p Part) whyNotSandboxable() string {
	if p.notSandboxable == "" && p.Validation {
		return p.Reason
	}
	return p.notSandboxable
}

// classNotSandboxable reports the classes that no sandbox makes harmless: the part is known to touch what it
// must not touch, or the text may mean something else.
func classNotSandboxable(class Class) bool {
	switch class {
	case Unlisted, Dynamic, Writes, Wrapper, Interpreter, Endless:
		return false
	default:
		return true
	}
}

// commandNotSandboxable says why no sandbox makes a command harmless. Empty: one does. words are its words with
// the wrappers.
func (j *judge) commandNotSandboxable(words []word, u unwrapped, s simple, at dirs) string {
	switch {
	case nameUnknown(u, s):
		return "the name of the command is only known when it runs"
	case u.textUnknown != "":
		return u.textUnknown
	case programUnknown(u, s):
		return "the program that " + s.name() + " is given is only known when it runs"
	case redefines(s):
		return s.name() + " changes what later commands mean"
	case printsEnvironment(s):
		return s.name() + " prints the environment"
	case reachesOut(s.name()):
		return s.name() + " works through programs outside the sandbox"
	case s.name() == "git" && !gitInside(s):
		return gitCommandName(s) + " may reach beyond the files of the project"
	case s.name() == "git" && j.gitDiscards(s, u.appends, at):
		return gitCommandName(s) + " may throw away changes for good"
	case deletes(s) && (u.appends || slices.ContainsFunc(s.args(), func(w word) bool { return !w.static || strings.Contains(w.value, "{}") })):
		return "what " + s.name() + " deletes is only known when it runs"
	case s.name() == "mv" && (u.appends || !allStatic(s.args())) && j.namesOutside(s, at):
		return "what mv takes out of the project is only known when it runs"
	case s.name() == "find" && slices.ContainsFunc(s.args(), func(w word) bool {
		return hasWord("-delete -fprint -fprint0 -fprintf -fls", w.value) || anyOption(w)
	}):
		return "find deletes or writes files that are only known when it runs"
	case publishes(s) && !usesNetwork(s):
		return s.name() + " may publish what others will see"
	case usesNetwork(s):
		if why := j.networkNotSandboxable(words, u, s); why != "" {
			return why
		}
	}
	if why := j.wordsNotSandboxable(words, u, s, at); why != "" || s.name() != "git" {
		return why
	}
	if slices.ContainsFunc(words[:len(words)-len(u.words)], func(w word) bool { return misleadsGit(w.value) }) {
		return gitCommandName(s) + " may work on another repository, or with other settings"
	}
	return j.listing.gitShows(s, u.appends, at)
}

// wordsNotSandboxable says why a word of a command names what no sandbox makes harmless.
func (j *judge) wordsNotSandboxable(words []word, u unwrapped, s simple, at dirs) string {
	changes, runs, script := !onlyReads(s), isInterpreter(s.name()), sedScript(s)
	for i, w := range words {
		switch {
		case i == 0 && systemCommand(w.value), (i == 0 || i == len(words)-len(u.words)) && onPath(w):
			continue
		case script != "" && w.value == script:
			continue // not a path, in spite of its slashes
		}
		why := j.wordNotSandboxable(w, at, changes && !runs)
		if runFile := i == len(words)-len(s.words)+1; why == "" && runs && !runFile {
			// The name alone decides: in a protected directory every name is protected, and a program that
			// runs there changes none of them in a sandbox.
			why = j.wordNotSandboxable(w, dirs{unknown: true}, true)
		}
		if why != "" {
			return why
		}
	}
	return ""
}

// onPath reports the name of a program that the shell looks for on the PATH.
func onPath(w word) bool {
	return w.static && !strings.ContainsAny(w.value, "/=") && !permissions.Secret(w.value)
}

// sedScript returns the script of a sed that prints lines and replaces text. Empty: it is not known which word
// that is.
func sedScript(s simple) string {
	if s.name() != "sed" {
		return ""
	}
	for _, w := range s.args() {
		switch {
		case !w.static, strings.HasPrefix(w.value, "--"), shortOption(w.value, 'e'), shortOption(w.value, 'f'), shortOption(w.value, 'l'):
			return ""
		case len(w.value) > 1 && w.value[0] == '-':
		case strings.HasPrefix(w.value, "s") && sedPrints().MatchString(w.value):
			return w.value
		default:
			return ""
		}
	}
	return ""
}

// onlyReads reports a command that changes no file which its arguments name, whatever these are. Git writes
// what it adds and commits to files of its own.
func onlyReads(s simple) bool {
	if s.name() == "git" {
		writes := slices.ContainsFunc(s.argv, func(a string) bool {
			name := optionName(a)
			return len(name) > 3 && strings.HasPrefix("--output-directory", name)
		})
		return !writes && hasWord("add commit log diff show status blame grep ls-files ls-tree cat-file rev-parse rev-list describe check-ignore", subcommand(s))
	}
	if s.name() == "tree" && slices.ContainsFunc(s.argv, func(a string) bool { return shortOption(a, 'o') }) {
		return false
	}
	return hasWord("cd ls cat head tail grep egrep fgrep rg wc cut tr diff cmp file stat du tree test [ basename dirname realpath "+
		"readlink jq echo printf nl od strings md5sum sha1sum sha256sum", s.name())
}

// wordNotSandboxable says why one of the paths that a word may name is not for a sandbox. changes says that
// the command may change what the word names. An unknown piece counts as some name.
func (ps *paths) wordNotSandboxable(w word, at dirs, changes bool) string {
	if !w.static && strings.HasPrefix(w.raw, "~") {
		return w.raw + " lies in a home that is not known"
	}
	value := strings.ReplaceAll(w.value, unknown, "x")
	for _, name := range pathsIn(value) {
		if strings.HasPrefix(name, "//") && strings.Contains(value, ":"+name) {
			continue // the rest of an address
		}
		if isPattern(name) {
			continue
		}
		if why := ps.pathNotSandboxable(name, at, changes); why != "" {
			return why
		}
		if !w.static && secretGlob(name) {
			return w.raw + " may hold secrets"
		}
	}
	return ""
}

// pathNotSandboxable says why a word, taken for a path, is not for a sandbox: it lies outside the roots, holds
// secrets or, where the command may change it, governs other programs.
func (ps *paths) pathNotSandboxable(word string, at dirs, changes bool) string {
	if word == "" || word == "/dev/null" || strings.Contains(word, "://") {
		return "" // an address leads nowhere without the network
	}
	if ps.secretWord(word, at) {
		return word + " holds secrets"
	}
	names, ok := at.join(word)
	if !ok { // somewhere beneath a directory that is not known
		if changes && ps.protected(filepath.Join("/", word)) {
			return word + " can make other programs run code"
		}
		return ""
	}
	for _, name := range names {
		resolved, inside := ps.env.Inside(name)
		switch {
		case ps.env.Secret(name), ps.env.Secret(resolved):
			return word + " holds secrets"
		case ps.keptByGit(word, name, resolved).set:
			return word + " holds secrets that git keeps"
		case !inside && !ps.shown(name, resolved):
			return outside(word, name, resolved)
		case changes && (ps.protected(name) || ps.protected(resolved)):
			return word + " can make other programs run code"
		}
	}
	return ""
}

// deletes reports a command that deletes files.
func deletes(s simple) bool {
	switch s.name() {
	case "tar":
		return slices.ContainsFunc(s.argv, func(a string) bool { return len(a) > 4 && strings.HasPrefix("--remove-files", a) })
	case "zip":
		return slices.ContainsFunc(s.argv, func(a string) bool { return shortOption(a, 'm') || a == "--move" })
	}
	return hasWord("rm rmdir unlink shred truncate srm trash", s.name())
}

// isPattern reports a word that begins like an absolute path, but is an address or a script of sed, awk or grep:
// no directory at the root has such a name.
func isPattern(word string) bool {
	first, rest, _ := strings.Cut(strings.TrimPrefix(word, "/"), "/")
	return isAbs(word) && (strings.ContainsAny(first, " ^(){}|;,\\$") || strings.ContainsAny(rest, "^{}|;"))
}

func (ps *paths) protected(name string) bool {
	return permissions.Protected(name, ps.env.Own...) != permissions.Unprotected
}

// systemCommand reports the path of a program in a directory of the system.
func systemCommand(name string) bool {
	switch filepath.ToSlash(filepath.Dir(name)) {
	case "/bin", "/usr/bin", "/usr/local/bin":
		return true
	}
	return false
}

// reachesOut reports a program that has another program or the system do its work: signals, services,
// containers, terminals, the desktop. The sandbox does not close the way to these on every system.
func reachesOut(name string) bool {
	return hasWord("kill pkill killall skill xkill fuser docker podman nerdctl docker-compose buildah ctr crictl "+
		"systemctl systemd-run service loginctl busctl dbus-send gdbus launchctl initctl machinectl "+
		"tmux screen zellij byobu ssh-add ssh-agent gpg gpg-connect-agent gpgconf pass security secret-tool "+
		"open xdg-open gio start osascript code codium cursor zed idea emacsclient notify-send wall write "+
		"hwclock hostnamectl timedatectl sysctl mount umount swapon chroot nsenter unshare bwrap "+
		"modprobe insmod ip ifconfig iptables nft route useradd usermod passwd crontab logger lpr mail sendmail", name)
}

// gitInside reports a subcommand of git that works on the data and files of the repository: it neither changes
// the configuration nor leaves the working tree. What reaches a remote is judged as use of the network.
func gitInside(s simple) bool {
	if words := subcommandWords(s); len(words) > 1 && hasWord("remote worktree", words[0].value) {
		verb := slices.IndexFunc(words[1:], func(w word) bool { return !hasWord("-v --verbose", w.value) })
		return verb < 0 || hasWord("show get-url update list", words[1+verb].value)
	}
	return hasWord("add commit status log diff show rm mv restore reset revert stash tag branch remote "+
		"checkout switch merge rebase cherry-pick blame grep describe ls-files rev-parse rev-list clean reflog shortlog "+
		"ls-tree cat-file merge-base name-rev for-each-ref symbolic-ref count-objects diff-tree diff-index diff-files "+
		"check-ignore check-attr merge-tree apply am format-patch range-diff cherry bisect version whatchanged var "+
		"clone fetch pull push ls-remote submodule send-email lfs", subcommand(s))
}

// programUnknown reports a command that is given a program as text which is only known when it runs.
func programUnknown(u unwrapped, s simple) bool {
	args := s.args()
	if !isInterpreter(s.name()) {
		return hasWord("mapfile readarray", s.name()) && slices.ContainsFunc(args, func(w word) bool { return shortOption(w.value, 'C') })
	}
	if u.appends {
		if len(args) > 0 && takesText(args[len(args)-1].value) || slices.ContainsFunc(args, func(w word) bool { return u.replaces(w.value) }) {
			return true
		}
	}
	if isShell(s.name()) && !u.appends && readsProgram(s) {
		return true
	}
	for i := 1; i < len(args); i++ {
		if !isShell(s.name()) && takesText(args[i-1].value) && !args[i].static {
			return true
		}
	}
	return false
}

// takesText reports an option with which an interpreter takes a program as text.
func takesText(option string) bool {
	return shortOption(option, 'c') || shortOption(option, 'e') || shortOption(option, 'E') || hasWord("-p -r --eval --print --command", option)
}

// redefines reports a command that changes what the name of a later command means.
func redefines(s simple) bool {
	switch s.name() {
	case "alias":
		return slices.ContainsFunc(s.args(), func(w word) bool { return !w.static || strings.Contains(w.value, "=") })
	case "hash":
		return slices.ContainsFunc(s.argv, func(a string) bool { return shortOption(a, 'p') || strings.Contains(a, unknown) })
	case "enable":
		return len(s.words) > 1
	}
	return false
}

// namesOutside reports a command that names a path outside the roots.
func (ps *paths) namesOutside(s simple, at dirs) bool {
	return slices.ContainsFunc(s.args(), func(w word) bool {
		names, ok := at.join(strings.ReplaceAll(w.value, unknown, "x"))
		return w.value != "" && (!ok || slices.ContainsFunc(names, func(name string) bool {
			_, inside := ps.env.Inside(name)
			return !inside
		}))
	})
}
