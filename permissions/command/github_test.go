package command_test

import (
	"testing"

	"acp-agent/permissions/command"
)

// What of gh only asks GitHub is left to the sandbox, where hosts and the login are asked about; all else asks before it
// runs.
func TestSandboxable_GitHub(t *testing.T) {
	t.Parallel()
	env := sandboxedEnv()
	for text, want := range map[string]bool{
		"gh pr list": true, "gh pr view 12 --json title,body": true, "gh pr view 12 | head -5": true, "gh pr diff 12": true, "gh pr checks": true,
		"gh run view 1 --log-failed": true, "gh issue list --state all": true, "gh search issues 'panic' --repo a/b": true, "gh status": true,
		"gh api repos/a/b/pulls/1/comments": true, "gh api repos/a/b --jq .name": true, "gh api -X GET repos/a/b": true, "gh api --paginate repos/a/b/issues -q '.[].title'": true,

		"gh": false, "gh pr": false, "gh pr create": false, "gh pr create --title list": false, "gh pr merge 12": false, "gh pr comment 12 -b x": false, "gh pr checkout 12": false,
		"gh issue close 1": false, "gh run rerun 1": false, "gh run download 1": false, "gh repo delete a/b": false, "gh repo clone a/b": false, "gh release create v1": false,
		"gh workflow run ci": false, "gh secret list": false, "gh gist create a": false, "gh auth token": false, "gh auth status -t": false, "gh alias set x y": false, "gh x": false,
		"gh $X list": false, "gh pr $X": false, "gh -R a/b pr list": false, "gh extension exec x": false,
		"gh api -X DELETE repos/a/b": false, "gh api -XDELETE repos/a/b": false, "gh api --method=PUT repos/a/b": false, "gh api -iXDELETE repos/a/b": false,
		"gh api repos/a/b/issues -f title=x": false, "gh api repos/a/b/issues --field title=x": false, "gh api repos/a/b/issues --input a.json": false,
		"gh api graphql -f query=x": false, "gh api graphql": false, "gh api https://evil.example/x": false, "gh api --hostname evil.example x": false, "gh api -H 'X-HTTP-Method-Override: DELETE' x": false,
		"gh api a b": false, "gh api $X": false,
	} {
		v := command.Judge(text, env)
		got := true
		for _, p := range v.Parts {
			if p.Argv != nil && p.Argv[0] == "gh" {
				got = p.Sandboxable()
			}
		}
		if got != want {
			t.Errorf("%s: sandboxable %v, want %v (%s)", text, got, want, v.Resources()[0].Judged.NotSandboxable)
		}
	}
}
