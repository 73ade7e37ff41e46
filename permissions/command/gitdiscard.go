package command

import (
	"slices"
	"strings"
)

// gitDiscards reports a git command that throws away what is not committed, or what only a branch or a stash
// holds. The agent's copies of files do not bring all of that back. appends says that the command gets more
// arguments that are only known when it runs.
func (ps *paths) gitDiscards(s simple, appends bool, at dirs) bool {
	words := subcommandWords(s)
	if len(words) < 1 {
		return false
	}
	args := values(words[1:])
	if (appends || !allStatic(words)) && hasWord("reset checkout switch restore clean stash branch tag reflog bisect submodule rm", words[0].value) {
		return true
	}
	switch words[0].value {
	case "reset":
		return hasOption(args, "--hard --merge --keep")
	case "checkout":
		makes := slices.Contains(args, "-b") || slices.Contains(args, "--orphan")
		branch := makes || len(words) == len(s.args()) && ps.onlyBranch(args, at)
		return !branch || hasOption(args, "-f --force -B -m --merge -2 --ours -3 --theirs --conflict -p --patch --pathspec-from-file --")
	case "switch":
		return hasOption(args, "-f --force --discard-changes -C --force-create -m --merge --conflict")
	case "restore":
		return !onlyStaged(args)
	case "clean":
		return !dryRun(args)
	case "rm", "submodule":
		return hasOption(args, "-f --force deinit")
	case "merge", "rebase", "cherry-pick", "revert", "am":
		return hasOption(args, "--abort --skip")
	case "fetch", "pull":
		moves := slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "+") || strings.HasPrefix(a, "--prune-t") })
		named := slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, ":") && !strings.Contains(a, "://") })
		return moves || hasOption(args, "--refmap -P") || named && hasOption(args, "-f --force -p --prune -u --update-head-ok")
	case "stash":
		return hasOption(args, "drop clear")
	case "branch":
		return hasOption(args, "-D -d --delete -M -C -f --force")
	case "tag":
		return hasOption(args, "-d --delete -f --force")
	case "reflog":
		return hasOption(args, "expire delete drop")
	}
	return false
}

// onlyBranch reports arguments of checkout that name a branch and no file in the directory, whose changes
// checkout would throw away.
func (ps *paths) onlyBranch(args []string, at dirs) bool {
	var name string
	for _, a := range args {
		if strings.HasPrefix(a, "-") {
			continue
		}
		if name != "" {
			return false
		}
		name = a
	}
	if name == "" || at.unknown || strings.ContainsAny(name, "./*?[:\\") {
		return false
	}
	for _, dir := range at.list {
		if ps.env.List == nil {
			break
		}
		names, err := ps.env.List(dir)
		if err != nil || slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) }) {
			return false
		}
	}
	return true
}

// onlyStaged reports arguments of restore that leave the working tree alone.
func onlyStaged(args []string) bool {
	staged := false
	for i := 0; i < len(args) && args[i] != "--"; i++ {
		switch a := args[i]; {
		case a == "-S", a == "--staged":
			staged = true
		case a == "-s", a == "--source":
			i++ // the tree
		case strings.HasPrefix(a, "--source="), a == "-q", a == "--quiet", !strings.HasPrefix(a, "-"):
		default:
			return false
		}
	}
	return staged
}

// dryRun reports arguments of clean with which it only shows what it would delete.
func dryRun(args []string) bool {
	dry := false
	for _, a := range args {
		switch {
		case !strings.HasPrefix(a, "-"):
		case a == "--dry-run", a != "-" && strings.Trim(a[1:], "ndfxXq") == "":
			dry = dry || a == "--dry-run" || strings.Contains(a, "n")
		default:
			return false
		}
	}
	return dry
}
