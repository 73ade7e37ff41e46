package command

import (
	"path"
	"slices"
	"strings"

	"acp-agent/internal/pathname"
	"acp-agent/permissions"
)

// persistence finds DN9: a command that makes code run later, or changes what governs the agent.
func (d *denial) persistence(s simple) finding {
	switch s.name() {
	case "crontab":
		if !hasAnyArg(s, "-l") {
			return denies(Persist, "crontab plans commands for later")
		}
	case "at", "batch", "atrm", "schtasks", "chsh":
		return denies(Persist, s.name()+" changes what runs later")
	case "systemctl":
		if hasWord("enable link edit daemon-reload preset reenable set-environment import-environment", subcommand(s)) {
			return denies(Persist, "systemctl "+subcommand(s)+" changes what runs later")
		}
	case "launchctl":
		if hasWord("load bootstrap enable submit setenv kickstart", subcommand(s)) {
			return denies(Persist, "launchctl "+subcommand(s)+" changes what runs later")
		}
	case "ssh-copy-id", "update-rc.d", "chkconfig":
		return denies(Persist, s.name()+" changes who or what may come in later")
	case "acp-agent":
		if answersForUser(s) {
			return denies(Persist, "only the user decides what acp-agent may do")
		}
	case "git":
		if f := gitPersists(s); f.set {
			return f
		}
	}
	removes := hasWord("rm rmdir unlink shred mkdir", s.name())
	for _, w := range filesWritten(s) {
		f := d.persists(w.value, s.at)
		if f.set && (!removes || d.governs(w.value, s.at)) {
			return f
		}
	}
	return finding{}
}

// answersForUser reports a call of the agent itself that decides in the name of the user: trust,
// a rule that is revoked, a yes to every question.
func answersForUser(s simple) bool {
	for _, w := range s.args() {
		flag := optionName(w.value)
		if !w.static || hasWord("trust revoke --yes --allow", flag) {
			return true
		}
	}
	return false
}

// persists denies writing a file that other programs run or obey.
func (ps *paths) persists(name string, at dirs) finding {
	names, ok := at.join(name)
	if !ok {
		names = []string{name}
	}
	for _, n := range slices.Clone(names) {
		if resolved, _ := ps.env.Inside(n); resolved != "" && resolved != n {
			names = append(names, resolved)
		}
	}
	for _, n := range names {
		if f := accountFile(n); f.set {
			return f
		}
		if runsLater(n, ps.env.Own) {
			return denies(Persist, path.Base(n)+" makes code run later or governs the agent")
		}
	}
	return finding{}
}

// governs reports a file whose loss would change what the agent may do.
func (ps *paths) governs(name string, at dirs) bool {
	names, ok := at.join(name)
	if !ok {
		names = []string{name}
	}
	for _, n := range names {
		if permissions.Protected(n, ps.env.Own...) == permissions.ProtectedDeny || inGit(n, "hooks") {
			return true
		}
	}
	return false
}

// runsLater reports a file that other programs will run or obey.
func runsLater(name string, own []string) bool {
	for _, dir := range []string{
		"/etc/cron.d", "/etc/crontab", "/etc/cron.daily", "/etc/cron.hourly", "/etc/cron.weekly", "/etc/cron.monthly", "/var/spool/cron",
		"/etc/profile", "/etc/profile.d", "/etc/bash.bashrc", "/etc/bashrc", "/etc/zsh", "/etc/zshrc", "/etc/zprofile", "/etc/environment",
		"/etc/rc.local", "/etc/init.d", "/etc/systemd", "/lib/systemd", "/usr/lib/systemd", "/etc/ld.so.preload", "/etc/ld.so.conf.d", "/etc/xdg/autostart", "/etc/hosts.allow",
	} {
		if pathname.Contains(dir, name) {
			return true
		}
	}
	switch permissions.Protected(name, own...) {
	case permissions.ProtectedDeny:
		return true
	case permissions.ProtectedAsk:
		if permissions.OpenToCommands(name) {
			return false // asked about, see permissions
		}
		return !gitInterior(name) || inGit(name, "hooks") || inGit(name, "config") || inGit(name, "config.worktree")
	default:
		return false
	}
}

// gitInterior reports a protected name that belongs to git itself.
func gitInterior(name string) bool {
	parts := strings.Split(strings.ToLower(strings.ReplaceAll(name, `\`, "/")), "/")
	return slices.Contains(parts, ".git") || parts[len(parts)-1] == ".gitmodules"
}

// inGit reports a name that is the given entry of a git directory, or lies beneath it.
func inGit(name, entry string) bool {
	parts := strings.Split(strings.ToLower(strings.ReplaceAll(strings.TrimRight(name, "/"), `\`, "/")), "/")
	for i, p := range parts {
		if p == ".git" && i+1 < len(parts) {
			rest := parts[i+1:]
			if rest[0] == "modules" || rest[0] == "worktrees" {
				return slices.Contains(rest, entry)
			}
			return rest[0] == entry
		}
	}
	return false
}

// gitConfigValued lists the options of git config whose value is the next word.
const gitConfigValued = "-f --file --blob -t --type --default --comment --value --url"

// gitPersists denies git config where it would make git run a program. Git takes options before the first
// operand only: in "git config KEY VALUE --get", the last word is a pattern for the old value.
func gitPersists(s simple) finding {
	words := subcommandWords(s)
	if len(words) == 0 || words[0].value != "config" {
		return finding{}
	}
	args := values(words[1:])
	renames := false
	for ; len(args) > 0 && strings.HasPrefix(args[0], "-") && args[0] != "--"; args = args[1:] {
		switch option := args[0]; {
		case hasWord("--get --get-all --get-regexp --get-urlmatch --list -l --unset", option):
			return finding{}
		case len(option) > 3 && strings.HasPrefix("--edit", option) || shortOption(option, 'e'):
			return denies(Persist, "git config opens the configuration in an editor")
		case hasWord(gitConfigValued, option) && len(args) > 1:
			args = args[1:]
		}
		renames = renames || strings.HasPrefix(args[0], "--ren")
	}
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	switch {
	case len(args) > 0 && hasWord("get list", args[0]):
		return finding{}
	case len(args) > 0 && args[0] == "edit":
		return denies(Persist, "git config opens the configuration in an editor")
	case len(args) < 2: // git config KEY reads
		return finding{}
	}
	renames = renames || args[0] == "rename-section"
	for _, arg := range args {
		if gitKeyRuns(arg) || renames && gitKeyRuns(arg+".x") {
			return denies(Persist, "git config "+arg+" can make git run a program")
		}
	}
	return finding{}
}
