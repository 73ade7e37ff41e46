package command_test

import (
	"testing"

	"acp-agent/permissions/command"
)

// What a card names is certain: one remote, or one that gh repo set-default chose, of github.com and rewritten by nothing.
func TestGitHubRepository(t *testing.T) {
	t.Parallel()
	const origin, fork = "[remote \"origin\"]\n\turl = https://github.com/a/b.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n", "[remote \"x.y\"]\n\turl = git@github.com:c/d\n"
	for config, want := range map[string]string{
		"[core]\n\tbare = false\n" + origin: "a/b", fork: "c/d", "[remote \"o\"]\nurl=ssh://git@github.com/a/b/\n": "a/b", "[remote \"o\"]\nurl=https://jo@github.com/a/b\n": "a/b",
		origin + "\tgh-resolved = base\n": "a/b", origin + "\tgh-resolved = e/f\n": "e/f", origin + fork + "\tgh-resolved = base\n": "c/d",

		"": "", origin + fork: "", origin + "\tgh-resolved = base\n" + fork + "\tgh-resolved = base\n": "", origin + "\turl = https://github.com/c/d\n": "", origin + "\tpushurl = https://github.com/c/d\n": "",
		origin + "\tgh-resolved = evil.example/e/f\n": "", origin + "\tgh-resolved = e/..\n": "", origin + "\tgh-resolved\n": "", origin + "[remote \"y\"]\n\tgh-resolved = base\n": "",
		origin + "[include]\n\tpath = x\n": "", origin + "[includeIf \"gitdir:/\"]\n\tpath = x\n": "", origin + "[url \"https://x/\"]\n\tinsteadOf = https://github.com/\n": "", origin + "]": "", origin + "[remote]\n\tpushDefault = x\n": "",
		"[remote \"o\"]\nurl=https://github.com.evil.example/a/b\n": "", "[remote \"o\"]\nurl=https://ghe.example/a/b\n": "", "[remote \"o\"]\nurl=github:a/b\n": "", "[remote \"o\"]\nurl=https://github.com/a/b#c\n": "", "[remote \"o\"]\nurl=https://github.com/../b\n": "", "[remote \"o\"]\nurl=\"https://github.com/a/b\"\n": "",
	} {
		if got := command.GitHubRepository(config); got != want {
			t.Errorf("%q: %q, want %q", config, got, want)
		}
	}
}

// The directory decides for gh pr and gh issue without a repository; where the text leaves it, or names another, that is not all.
func TestVerdict_GitHubHere(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]bool{
		"gh pr comment 7 --body x": {true, false}, "gh issue list | head -5": {true, false}, "gh pr view 7; gh run view 1; gh auth status": {true, false}, "gh pr comment 7 --body -R": {true, false},
		"cd sub && gh pr comment 7 --body x": {true, true}, "gh pr comment 7 --body x -R a/b": {false, true}, "gh pr view 7 -R a/b": {false, true}, "gh pr view 7 -Ra/b": {false, true}, "gh pr view 7 --repo=a/b": {false, true},
		"gh pr comment 7 --body x; gh pr close 8 -R a/b": {true, true}, "gh pr view 7; gh api repos/a/b": {true, true}, "gh issue comment https:/a/b/issues/1 --body x": {false, true}, "gh run list": {false, false}, "ls": {false, false},
	} {
		if v := command.Judge(text, sandboxedEnv()); [2]bool{v.GitHubHere, v.GitHubElsewhere} != want {
			t.Errorf("%s: here and elsewhere are %v and %v, want %v", text, v.GitHubHere, v.GitHubElsewhere, want)
		}
	}
}
