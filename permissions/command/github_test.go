package command_test

import (
	"path"
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
		"gh run view 1 --log-failed": true, "gh issue list --state all": true, "gh search issues 'panic' --repo a/b": true, "gh status": true, "gh auth status": true,
		"gh api repos/a/b/pulls/1/comments": true, "gh api repos/a/b --jq .name": true, "gh api -X GET repos/a/b": true, "gh api --paginate repos/a/b/issues -q '.[].title'": true,

		"gh": false, "gh pr": false, "gh pr create": false, "gh pr create --title list": false, "gh pr merge 12": false, "gh pr comment 12 -b x": false, "gh pr checkout 12": false,
		"gh issue close 1": false, "gh run rerun 1": false, "gh run download 1": false, "gh repo delete a/b": false, "gh repo clone a/b": false, "gh release create v1": false,
		"gh workflow run ci": false, "gh secret list": false, "gh gist create a": false, "gh auth token": false, "gh auth status -t": false, "gh alias set x y": false, "gh x": false,
		"gh $X list": false, "gh pr $X": false, "gh -R a/b pr list": false, "gh extension exec x": false,
		"gh api -X DELETE repos/a/b": false, "gh api -XDELETE repos/a/b": false, "gh api --method=PUT repos/a/b": false, "gh api -iXDELETE repos/a/b": false,
		"gh api repos/a/b/issues -f title=x": false, "gh api repos/a/b/issues --field title=x": false, "gh api repos/a/b/issues --input a.json": false,
		"gh api graphql -f query=x": false, "gh api graphql": false, "gh api https://evil.example/x": false, "gh api --hostname evil.example x": false, "gh api -H 'X-HTTP-Method-Override: DELETE' x": false,
		"gh api '{owner}//evil.example/x'": false, "gh api 'repos/{owner}/{repo}'": true, "gh api ../x": false, "gh pr view 1 --web": false, "gh pr view -cw": false,
		"xargs gh api a": false, "xargs -I view gh pr view 3": false, "timeout 9 gh pr list": false, "./gh pr list": false, "env X=1 gh pr list": false,
		"gh api a b": false, "gh api $X": false,

		// What is put in for a placeholder is the project's to say, and "://" anywhere makes an address of an endpoint.
		"gh api 'https:/{repo}/evil.example/x?secret=1'": false, "gh api 'http:/{repo}/api.github.com/user'": false, "gh api 'https:/{repo}/github.local{branch}'": false, "gh api '/graph{branch}'": false, "gh api 'graph{branch}'": false,
		"gh api https:/:repo/evil.example/x": false, "gh api '/{owner}/{repo}'": false, "gh api :owner": false, "gh api repos:/x": false, "gh api 'repos/x{owner}/{repo}'": false, "gh api 'repos/{repo}/{owner}'": false, "gh api 'repos/{branch}/x'": false,
		"gh api 'repos/a/b/x{branch}'": false, "gh api 'users/{owner}'": false, "gh api 'repos/{owner}/{repo}/{x}'": false, "gh api /": false, "gh api '/?x={branch}'": false, "gh api 'repos/a/b#x'": false, `gh api 'https:\\evil.example'`: false,
		"gh api 'repos/a/b/pulls/1/comments?per_page=100'": true, "gh api 'repos/{owner}/{repo}/issues'": true, "gh api repos/:owner/:repo": true, "gh api 'repos/{owner}/{repo}/commits/{branch}/status'": true, "gh api user": true,
		"gh api 'search/issues?q=repo:a/b+is:open'": true, "gh api 'repos/a/b/pulls?head=a:x&state=open'": true, "gh api repos/a/b/contents/x:y": true, "gh api 'repos/{owner}/{repo}/commits?sha={branch}'": true,
	} {
		v := command.Judge(text, env)
		got := true
		for _, p := range v.Parts {
			if p.Argv != nil && path.Base(p.Argv[0]) == "gh" {
				got = p.Sandboxable()
			}
		}
		if got != want {
			t.Errorf("%s: sandboxable %v, want %v (%s)", text, got, want, v.Resources()[0].Judged.NotSandboxable)
		}
	}
}

// A text whose gh gets the user's login holds nothing else that could use it.
func TestVerdict_GitHubAlone(t *testing.T) {
	t.Parallel()
	env := sandboxedEnv()
	for text, want := range map[string]bool{
		"gh pr list": true, "gh issue create --title 'a word' --body \"text\"": true, "gh pr merge 12 --squash --auto": true, "gh pr comment 12 -b 'a word'": true, "gh api repos/a/b/pulls -f title=x -f head=y": true, "gh workflow run ci --ref main -f a=b": true, "cd src && gh pr view 1 | head -5; gh auth status": true,
		"gh issue create --title 'the environment' --body 'see https://example.com/x'": true, "gh pr comment 1 -b '- an env://x'": true, "gh api repos/a/b/pulls -f 'body=https://x' -f head=env": true, "gh pr edit 1 -t '--'": true,
		"gh api repos/a/b/env -f x=y": false, "gh api https://x/y -f x=y": false, "gh api repos/a/b -f a=b --jq env": false, "gh issue list -t '{{env}}'": false, "gh pr view 1 --template '{{env}}'": false, "gh pr merge https://x/y --subject z": false,
		"gh pr comment 1 -b x -- https://x": false, "gh pr comment https://x/a/b/pull/1 --body y": false, "gh issue comment 1 --body x -R env.ghe.com/a/b": false, "gh pr review 1 --comment https://x": false, "gh workflow run x --raw-field https://y https://z": false,
		"gh api repos/a/b -q '.[] | .name' 2>&1 | grep -v x": true, "gh pr view 1 2>/dev/null || true": true,

		"ls": false, "./gh pr list": false, "node_modules/.bin/gh pr list": false, "/tmp/gh pr list": false, "GH pr list": false,
		"timeout 9 gh pr list": false, "./timeout 9 gh pr list": false, "echo -X DELETE | xargs gh api a": false, "env gh pr list": false, "command gh pr list": false,
		"PATH=./x gh pr list": false, "export PATH=./x; gh pr list": false, "X=1; gh pr list": false, "GH_PAGER=./x gh pr list": false, "set -a; gh pr list": false,
		". ./x; gh pr list": false, "gh() { ./x; }; gh pr list": false, "alias gh=./x; gh pr list": false, "shopt -s expand_aliases; gh pr list": false, "hash -p ./x gh; gh pr list": false,
		"gh pr list; ./x": false, "gh pr list | ./x": false, "gh pr list | head -c 3 > x": false, "gh pr list > x": false, "gh pr list < x": false, "gh pr list &": false,
		"for p in $GH_TOKEN; do gh pr list; done": false, "if true; then gh pr list; fi": false, "(gh pr list)": false, "{ gh pr list; }": false,
		"gh pr list $X": false, "gh pr list \"$GH_TOKEN\"": false, "gh pr list $(ls)": false, "gh pr list *": false, "gh pr view $'1'": false, "gh pr view ${X:-1}": false,
		"gh pr list; echo $GH_TOKEN": false, "gh pr list | awk '{print ENVIRON[\"GH_TOKEN\"]}'": false, "gh pr list | jq env": false, "gh pr list; cat /proc/self/environ": false,
		"gh api user --jq env.GH_TOKEN": false, "gh api user -q '$ENV'": false, "gh auth token": false, "gh auth status -t": false, "gh auth status --show-token": false,
		"gh extension exec x": false, "gh alias list": false, "gh codespace ssh": false, "gh pr view --web": false, "gh pr view -cw": false,
		"gh pr list -R github.localhost/a/b": false, "gh pr list -R x.ghe.com/a/b": false, "gh api --hostname x user": false, "gh": false,
		"gh pr create --title x --body y": false, "gh pr checkout 1": false, "gh repo sync": false, "gh repo clone a/b x -- -c core.sshCommand=./x": false, "gh gist clone x -- y": false,
		"gh --help=false auth token": false, "gh x": false, "gh pr comment 1 --body-file a": false, "gh pr comment 1 -F a": false, "gh gist create a": false, "gh release create v1 a": false,
		"gh api gists -F x=@a": false, "gh api gists --input a": false, "gh secret set X -f a": false, "gh release download v1 -D /dev/x": false, "gh api http://api.github.com/user": false, "gh api :branch": false,
		"gh pr merge 1 -d": false, "gh pr merge 1 --delete-branch": false, "gh pr merge 1 -m --delete-branch": false, "gh pr merge 1 -md": false, "gh issue create -e": false, "gh issue create --template x": false,
		"gh pr list | cat a": false, "gh pr list | cat -n a": false, "gh pr list; grep x a": false, "gh pr list | grep -f a": false, "gh pr list | grep -r x": false, "gh pr list | head -5 a": false, "gh pr list | wc -c a": false,
		"gh pr list | wc --files0-from=a": false, "gh pr list | grep -v -i x": true, "gh pr list | head -n 5": true, "gh pr list | cut -f 1 -d ,": true, "gh pr list | head -5 | tail -n3 | cut -sf1": false, "gh pr list | head -5 | tail -n3 | cut -f1": true, "gh pr list | wc -lc": true, "gh pr list | cat -An": true, "gh pr list | tr a b": true, "cd ~ && gh pr list": false, "cd - && gh pr list": false,
		"gh pr list | column -o -s f": false, "gh pr list | head -qn -c f": false, "gh pr list | cut -sd -f f": false, "gh pr list | head -n -c": false, "gh pr list | cat -": false, "gh pr list | cat --number": false,
		"gh api --cache 9h --paginate repos/a/b": false,

		// Without a number git is asked for the branch and its commits, which may be some of a repository that names programs.
		"gh pr merge --squash": false, "gh pr merge": false, "gh pr merge ''": false, "gh pr merge ' '": false, "gh pr comment -b x": false, "gh pr comment -b 1": false, "gh pr review --approve": false, "gh pr ready": false, "gh pr close -c 1": false, "gh pr merge -t 1 -b 2": false, "gh pr merge -R a/b": false,
		"gh pr merge --body=1": false, "gh pr merge 1 2": false, "gh pr merge -m 1": false, "gh pr merge -- 1": false, "gh pr merge -1": false, "gh pr merge --squash=1": false, "gh pr merge https:/x/a/b/pull/1 -R x://y": false,
		"gh pr merge -s 1": true, "gh pr merge 1 -m": true, "gh pr merge '#1' --squash": true, "gh pr merge a-branch/x --auto": true, "gh pr merge jo:branch --auto": true, "gh pr merge --repo=a/b 1": true, "gh pr merge -R a/b 1": true, "gh pr merge -R github.com/a/b 1": true, "gh pr merge -b x -t y 1": true,
		// What the name of a repository holds goes into addresses.
		"gh pr merge 1 -R 'a/b#'": false, "gh pr merge 1 --repo=a/b?x": false, "gh pr merge 1 -R a/..": false, "gh pr merge 1 -R ''": false, "gh pr merge 1 --repo=": false, "gh pr merge 1 -R": false, "gh pr merge 1 -R evil.example/a/b": false, "gh pr merge 1 -Ra/b": false, "gh pr merge 1 -R=a/b": false,
		"gh label delete x --yes": false, "gh label edit x -d y": false, "gh label delete x --yes -R a/b": true,
		"gh api 'https:/{repo}/evil.example/x' -f a=b": false, "gh api 'graph{branch}' -f query=x": false, "gh api 'repos/{owner}/{repo}/issues' -f title=x": false, "gh api repos/:owner/:repo/issues -f title=x": false, "gh api 'repos/a/b/issues?x=:branch' -f title=x": false, "gh api 'repos/a/b#/x' -X DELETE": false,
		"gh api repos/a/b/issues/1 -X PATCH -f state=closed": true, "gh api /repos/:owner/:repo": true, "gh api /rate_limit": true, "gh api 'search/issues?q=repo:a/b+is:open'": true, "gh api 'repos/{owner}/{repo}/issues'": true,
		"gh pr list\nthis is not ) a text": false,
	} {
		if v := command.Judge(text, env); v.GitHubAlone != want {
			t.Errorf("%s: alone %v, want %v", text, v.GitHubAlone, want)
		}
	}
}

// The forms of gh that start git, and so get no login, have another way, which gets one.
func TestVerdict_GitHubInstead(t *testing.T) {
	t.Parallel()
	env := sandboxedEnv()
	for text, want := range map[string]string{
		"git push -u origin x && gh pr create --fill": "git push, and then gh api repos/OWNER/REPO/pulls -f title=… -f body=… -f head=BRANCH -f base=BRANCH",

		"gh pr checkout 7":        "git fetch origin pull/NUMBER/head:BRANCH, and then git switch BRANCH",
		"gh pr merge --squash":    "gh pr merge NUMBER, with the other words as they are",
		"gh label delete x --yes": "gh label delete -R OWNER/REPO, with the other words as they are",
		"gh pr view 7":            "",
		"gh pr merge 7; ./x":      "",
		"echo gh pr create":       "",
	} {
		v := command.Judge(text, env)
		if v.GitHubInstead != want {
			t.Errorf("%s: instead %q, want %q", text, v.GitHubInstead, want)
		}
		if want != "" && v.GitHubAlone {
			t.Errorf("%s: gets the login", text)
		}
	}
	for _, text := range []string{
		"gh api repos/a/b/pulls -f 'title=a title' -f body='see https://example.com' -f head=x -f base=main", "gh api repos/a/b/releases -f tag_name=v1 -f name=v1 -f body=x",
	} {
		if !command.Judge(text, env).GitHubAlone {
			t.Errorf("%s: gets no login", text)
		}
	}
}

// "Always" for a change covers no other repository, which another directory would be enough for.
func TestVerdict_GitHubAlways(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"gh pr merge --squash": false, "gh pr merge 1 --squash": false, "gh issue create --title x --body -R": false, "gh pr merge 1 -b -R -t a/b": false, "gh pr create --fill": false, "gh workflow run ci": false,
		"gh pr merge 1 -R ''": false, "gh pr merge 1 -- -R a/b": false, "gh api 'repos/{owner}/{repo}/issues' -f title=x": false, "gh repo edit": false,
		"gh pr merge 1 --squash -R a/b": true, "gh issue create --title x --repo=a/b": true, "gh api repos/a/b/issues -f title=x": true, "gh pr list": true,
	} {
		p := command.Judge(text, sandboxedEnv()).Parts[0]
		if got := p.Always != nil; got != want {
			t.Errorf("%s: always %v, want %v (%s)", text, got, want, p.NoAlways)
		}
	}
}
