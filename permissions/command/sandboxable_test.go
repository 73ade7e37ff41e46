package command_test

import (
	"strings"
	"testing"

	"acp-agent/permissions/command"
)

// What a sandbox answers for, and what it does not (the mode auto): every part that is
// asked about must be contained for the text to run without a question.
func TestPart_Contained(t *testing.T) {
	contained := func(text string) bool {
		v := command.Judge(text, sandboxedEnv())
		if v.Action != ask {
			t.Fatalf("Judge(%q) = %s (%s), want ask: the case says nothing", text, v.Action, v.Reason)
		}
		for _, p := range v.Parts {
			if p.Action == ask && !p.Sandboxable() {
				return false
			}
		}
		return true
	}
	for _, text := range []string{
		"go test ./...", "go build -o bin/app ./cmd", "make", "touch a", "echo x > a", "npm test", "python3 script.py", "cp a b",
		"rm a", "mkdir -p x/y && touch x/y/z", "cd src && make", "timeout 5 make", "bash -c 'touch a'", "./run.sh", "git add a",
		"git commit -m 'a word'", "git diff", "/usr/bin/make", "make 2>&1 | tail -5", "sed -i s/a/b/ a", "make &", "time make", "gcc -Iinclude a.c",
	} {
		if !contained(text) {
			t.Errorf("%q is not contained", text)
		}
	}
	for _, text := range []string{
		// only known when it runs
		"make $X", "echo $(make)", "FOO=1 make", "for f in a b; do touch $f; done", "cat a | xargs touch", "touch *.go",
		"find . -name a -exec touch {} +", "env X=1 make", "cd $X; make", "echo x > $X", "f() { touch a; }; f", "touch a; ((x))",
		"touch a; case a in ${X:=y}) ls;; esac", "touch a; [[ ${X:=a} ]]", "touch a; ls <${X:=a}", "git diff $X", "git log $(git merge-base a b)..",
		"export PATH=~/x/bin:$PATH; make", "grep -n x $X .vscode/settings.json", "sed -n '/^type A struct {/,/^}/p' $X",
		"go build -o bin/app ./cmd", "git worktree list --expire now",
		// at the system's own places and in a /tmp of its own
		"touch /tmp/a", "cp a /tmp/b", "echo x > /tmp/a", "ls /usr/include", "cd /tmp && make", "python3 /opt/x.py", "cc -o/tmp/a a.c",
		// by host
		"npm install", "git clone https://x.example/y", "curl https://x.example/a?b=c", "pip install -r a", "git fetch origin", "make && npm ci",
	} {
		if !contained(text) {
			t.Errorf("%q is not contained", text)
		}
	}
	for _, text := range []string{
		// outside, by whatever spelling
		"touch /srv/a", "cp a /home/ann/b", "echo x > /srv/a", "make -C /src", "tool --out=/srv/a", "touch ../a", "touch ~/a",
		"cd /srv && make", "/srv/bin/tool", "bash -c 'touch /srv/a'", "X=~/a; touch $X", "for f in ~/a ~/b; do touch $f; done", "touch /home/ann/$X",
		"env X=/srv/a make", "touch /tmp/../srv/a", "declare -a X=(/srv/a); touch $X",
		// in which a program is only known when it runs
		"env -S 'docker ps'", "touch ~bob/a", "$X a", "eval $X", "bash -c \"$X\"", `bash -c 'touch "'`, `eval "touch a`, "\"$X/$Y\" a", "make # a \\\ntouch .envrc",
		// the network of another kind, with keys, or to publish
		"go get x", "git push", "git -c a=b push", "npm publish", "gh pr create", "ssh x.example", "nc x.example 1", "docker pull x", "twine upload a",
		// protected names and secrets
		"git config user.name x", "git remote add x y", "cp a .git/config2", "rm .vscode/settings.json", "touch .git/x", "cd $X; touch .envrc",
		"cp .env a", "mv id_rsa a", "echo x > .env", "cp notes.txt a", "cp .e* a", "X=.env; cp $X a", "cp $X/.env a",
		// validation, and what nothing brings back
		"rm -rf a", "dd if=a of=b", "rm $X", "ls | xargs rm", "find . -delete", "find . -exec rm {} +", "git reset --hard", "git reset $X",
		"git checkout .", "git -C src checkout .", "ls | xargs git checkout", "git clean -fd", "git branch -D a", "git stash drop",
		"git checkout -fq a", "git restore -WS a", "git restore -- -S", "git restore -sS a", "git reset --har", "git switch --discard a", "git switch -Ca",
		"git branch -Dq a", "git branch -Mx y", "git tag -fm x y", "git clean -f -en", "git clean -f -- -n", "git rm -f a", "git rm -r $X",
		"ls | xargs git rm", "git merge --abort", "git checkout --ours a", "git fetch . +a:b", "git fetch -f . a:b", "git submodule deinit -f a",
		"git rebase -x 'git reset --hard' a", "git bisect run git clean -fd", "git submodule foreach 'git checkout .'", "git remote -v remove x",
		"git diff --output=.vscode/tasks.json", "tree -o .vscode/tasks.json", "mv $X /tmp", "mv *.go /tmp/a", "tar --remove-files -cf a.tar $X",
		// programs given as text, and names of programs, in other forms
		"{rm,a}", "/bin/r[m] a", "find . -exec $X {} ;", `find . -exec sh -c "$X" ;`, "fd -x rm", "ls | xargs -I{} {} a", "ls | xargs -I% % a",
		"ls | xargs bash -c", "ls | xargs -I{} sh -c 'echo {}'", "ls | xargs time", "ls | parallel", "watch 'rm *.go'", "flock x -c 'rm *.go'",
		`env -S "$X"`, "timeout $X rm a", "bash -co pipefail 'rm *.go'", "trap -- 'rm *.go' EXIT", "eval -- 'rm *.go'", "alias x='rm *.go'",
		"hash -p /bin/rm ls; ls *.go", "enable -f ./x.so x", "mapfile -C 'rm *.go' -c 1 X", `python3 -c "$X"`, `echo "$X" | bash`, "find . -del$X",
		"npm $X", "npm unpublish x",
		// programs that work through others
		"kill 1", "docker ps", "systemctl status", "tmux new", "xdg-open a", "ls | xargs docker rm", "f() { docker ps; }; f",
	} {
		v := command.Judge(text, sandboxedEnv())
		if v.Action == ask && contained(text) {
			t.Errorf("%q is contained", text)
		}
		if v.Action == allow {
			t.Errorf("%q is allowed", text)
		}
	}
	without := testEnv()
	for text, want := range map[string]string{
		"cp a /tmp/b": "/tmp/b lies outside the workspace", "npm install": "npm uses the network", "touch .env": ".env holds secrets",
		"touch .git/x": ".git/x can make other programs run code", "docker ps": "docker works through programs outside the sandbox",
		"$X": "the name of the command is only known when it runs", "rm -rf a": "Potentially dangerous command", "touch $X": "",
	} {
		if got := command.Judge(text, without).Resources()[0].Judged.NotSandboxable; got != want {
			t.Errorf("%q: notSandboxable %q, want %q", text, got, want)
		}
	}
}

// sandboxedEnv is testEnv with a sandbox that asks about hosts and has a /tmp of its own.
func sandboxedEnv() command.Env {
	env := testEnv()
	env.ByHost = func() bool { return true }
	env.GitNames = func(string, []string) ([]string, bool) { return nil, false }
	env.GitHistory = func(string) ([]string, bool) { return nil, true }
	env.Shown = func(path string) bool {
		for _, dir := range []string{"/tmp", "/usr", "/opt"} {
			if path == dir || strings.HasPrefix(path, dir+"/") {
				return true
			}
		}
		return false
	}
	return env
}
