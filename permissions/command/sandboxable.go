package command

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"acp-agent/capability"
	"acp-agent/permissions"
)

// Sandboxable reports a part that is asked about for no other reason than that it is not
// known to only read: it is known whole before it runs, names nothing outside the roots,
// no secret and nothing protected (P5), needs no network that is known of, and speaks to
// no program outside. What else such a part does, a sandbox confines. A part that is
// allowed or denied is not contained, and needs not be.
func (p Part) Sandboxable() bool {
	return p.Action == capability.Ask && p.whyNotSandboxable() == ""
}

// whyNotSandboxable says what of the part no sandbox answers for; empty means nothing.
func (p Part) whyNotSandboxable() string {
	switch {
	case p.Network && len(p.Argv) > 0:
		return filepath.Base(p.Argv[0]) + " uses the network"
	case p.notSandboxable == "" && p.Validation:
		return p.Reason
	}
	return p.notSandboxable
}

// exposes reports the classes that a sandbox does not answer for: what the part touches
// is not known, or it is known and not for it to touch.
func classNotSandboxable(class Class) bool {
	switch class {
	case Unlisted, Writes, Wrapper, Interpreter, Endless:
		return false
	default:
		return true
	}
}

// markNotSandboxable has no sandbox answer for the parts that came since index from, because of
// something in the program that belongs to none of them.
func (pt *parts) markNotSandboxable(from int, why string) {
	for i := range pt.list[from:] {
		p := &pt.list[from+i]
		p.notSandboxable = cmp.Or(p.notSandboxable, why)
	}
}

// notSandboxable says what a command, all of whose words are known, names or reaches that a
// sandbox must not be trusted with; empty means nothing.
func (j *judge) commandNotSandboxable(u unwrapped, s simple, at dirs) string {
	switch {
	case at.unknown:
		return "the directory it runs in is not known"
	case printsEnvironment(s):
		return s.name() + " prints the environment"
	case u.changes:
		return "what stands in front of " + s.name() + " changes what it runs"
	case reachesOut(s.name()):
		return s.name() + " works through programs outside the sandbox"
	case s.name() == "git" && gitDiscards(s):
		return "git " + subcommand(s) + " may throw away changes for good"
	case s.name() == "git" && !gitInside(s):
		return "git " + subcommand(s) + " may reach beyond the files of the project"
	case s.name() == "find" && u.hidesOptions:
		return "find runs commands or deletes files that are only known when it runs"
	}
	for i, w := range s.words {
		if i == 0 && systemCommand(w.value) {
			continue
		}
		for _, name := range candidates(w.value) {
			if why := j.pathNotSandboxable(name, at); why != "" {
				return why
			}
		}
	}
	return ""
}

// pathNotSandboxable says why a word, read as a path, is not for a sandbox to answer for: it
// lies outside the roots, holds secrets or governs other programs.
func (ps *paths) pathNotSandboxable(word string, at dirs) string {
	if word == "" || word == "/dev/null" || strings.Contains(word, "://") {
		return "" // an address is of no use without the network
	}
	names, ok := at.join(word)
	if !ok {
		return word + " is taken from a directory that is not known"
	}
	for _, name := range names {
		resolved, inside := ps.env.Inside(name)
		switch {
		case ps.secretWord(word, at), ps.env.Secret(name), ps.env.Secret(resolved):
			return word + " holds secrets"
		case ps.gitText(word, name, resolved).set:
			return word + " holds secrets that git keeps"
		case !inside:
			return outside(word, name, resolved)
		case ps.protected(name), ps.protected(resolved):
			return word + " can make other programs run code"
		}
	}
	return ""
}

func (ps *paths) protected(name string) bool {
	return permissions.Protected(name, ps.env.Own...) != permissions.Unprotected
}

// systemCommand reports the absolute name of a program where systems keep theirs.
func systemCommand(name string) bool {
	switch filepath.ToSlash(filepath.Dir(name)) {
	case "/bin", "/usr/bin", "/usr/local/bin":
		return true
	}
	return false
}

// reachesOut reports programs whose work is done by another program, or by the system,
// on their behalf: signals, services, containers, terminals, the desktop. A confined
// process may have a way to such a program that the sandbox does not close on every system.
func reachesOut(name string) bool {
	return hasWord("kill pkill killall skill xkill fuser docker podman nerdctl docker-compose buildah ctr crictl "+
		"systemctl systemd-run service loginctl busctl dbus-send gdbus launchctl initctl machinectl "+
		"tmux screen zellij byobu ssh-add ssh-agent gpg gpg-connect-agent gpgconf pass security secret-tool "+
		"open xdg-open gio start osascript code codium cursor zed idea emacsclient notify-send wall write "+
		"date hwclock hostname hostnamectl timedatectl sysctl mount umount swapon chroot nsenter unshare bwrap "+
		"modprobe insmod ip ifconfig iptables nft route useradd usermod passwd crontab logger lpr mail sendmail", name)
}

// gitInside reports the subcommands of git that work on the repository's own data and
// files, given first: no subcommand that changes the configuration, reaches a remote or leaves
// the working tree.
func gitInside(s simple) bool {
	return len(s.words) > 1 && hasWord("add commit status log diff show rm mv restore reset revert stash tag branch "+
		"checkout switch merge rebase cherry-pick blame grep describe ls-files rev-parse rev-list clean reflog shortlog",
		s.words[1].value)
}

// gitDiscards reports the forms of git that throw away what is not committed, or what only
// a branch or a stash holds: the copies that are kept of files do not bring all of that back.
func gitDiscards(s simple) bool {
	if len(s.words) < 2 {
		return false
	}
	args := values(s.words[2:])
	has := func(options string) bool {
		return slices.ContainsFunc(args, func(a string) bool {
			name, _, _ := strings.Cut(a, "=")
			return hasWord(options, name) || len(a) > 1 && a[0] == '-' && a[1] != '-' && hasWord(options, "-"+a[len(a)-1:])
		})
	}
	switch s.words[1].value {
	case "reset":
		return has("--hard --merge --keep")
	case "checkout":
		branch := has("-b --orphan") || len(operands(s)) == 2 && !slices.ContainsFunc(args, func(a string) bool { return strings.ContainsAny(a, "./*") })
		return !branch || has("-f --force -B --")
	case "switch":
		return has("-f --force --discard-changes -C")
	case "restore":
		return !has("--staged -S") || has("--worktree -W")
	case "clean":
		return !has("-n --dry-run")
	case "stash":
		return has("drop clear")
	case "branch":
		return has("-D -d --delete -M -C -f --force")
	case "tag":
		return has("-d --delete -f --force")
	case "reflog":
		return has("expire delete")
	}
	return false
}
