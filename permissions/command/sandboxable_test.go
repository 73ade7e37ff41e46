package command_test

import (
	"testing"

	"acp-agent/permissions/command"
)

// What a sandbox answers for, and what it does not (the mode auto): every part that is
// asked about must be contained for the text to run without a question.
func TestPart_Contained(t *testing.T) {
	contained := func(text string) bool {
		v := command.Judge(text, testEnv())
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
		// outside, by whatever spelling
		"touch /etc/a", "cp a /tmp/b", "echo x > /tmp/a", "touch out/a", "make -C /src", "python3 /opt/x.py", "cc -o/tmp/a a.c",
		"tool --out=/tmp/a", "touch ../a", "touch ~/a", "cd /tmp && make", "/opt/bin/tool", "bash -c 'touch /etc/a'",
		// only known when it runs
		"make $X", "echo $(make)", "FOO=1 make", "for f in a b; do touch $f; done", "cat a | xargs touch", "touch *.go",
		"find . -name a -exec touch {} +", "env X=1 make", "cd $X; make", "echo x > $X", `bash -c 'touch "'`, `eval "touch a`,
		// in a place that is not a command's
		"touch a; case a in ${X:=y}) ls;; esac", "touch a; case a in $(touch b)) ls;; esac", "touch a; cat <<E${X:=a}\nx\nE${X:=a}", "touch a; [[ ${X:=a} ]]",
		"bash -c 'touch a; case a in ${X:=y}) ls;; esac'", "touch a; ls <${X:=a}", "touch a; ((x))", "f() { touch a; }; f", "make # a \\\ntouch .envrc",
		// network
		"go get x", "npm install", "git push", "git clone https://x.example/y", "curl https://x.example", "make && npm install",
		// protected names and secrets
		"git config user.name x", "git remote add x y", "cp a .git/config2", "rm .vscode/settings.json", "touch .git/x",
		"cp .env a", "mv id_rsa a", "echo x > .env", "cp notes.txt a",
		// validation
		"rm -rf a", "dd if=a of=b",
		// programs that work through others
		"kill 1", "docker ps", "systemctl status", "tmux new", "date -s 1", "xdg-open a",
	} {
		v := command.Judge(text, testEnv())
		if v.Action == ask && contained(text) {
			t.Errorf("%q is contained", text)
		}
		if v.Action == allow {
			t.Errorf("%q is allowed", text)
		}
	}
	for text, want := range map[string]string{
		"cp a /tmp/b": "/tmp/b lies outside the workspace", "npm install": "npm uses the network", "touch .env": ".env holds secrets",
		"touch .git/x": ".git/x can make other programs run code", "docker ps": "docker works through programs outside the sandbox",
		"touch $X": "$X is only known when the command runs", "rm -rf a": "Potentially dangerous command",
	} {
		if got := command.Judge(text, testEnv()).Resources()[0].Judged.NotSandboxable; got != want {
			t.Errorf("%q: notSandboxable %q, want %q", text, got, want)
		}
	}
}
