package command_test

import (
	"testing"
)

// TestRules_AlwaysIsNarrow holds that what "always" stored for one command does not let
// another one through by an option, in whatever spelling.
func TestRules_AlwaysIsNarrow(t *testing.T) {
	tests := []struct {
		given string
		runs  []string // go on without a question
		asks  []string
	}{
		{"git fetch .", []string{"git fetch ."}, []string{"git fetch --upload-pac='touch x' .", "git fetch . x", "git fetch"}},
		{"git stash", nil, []string{"git stash drop", "git stash push"}},
		{"git push origin main", nil, []string{"git push --receive-pac=x origin main", "git push -f origin main", "git push origin main x"}},
		{"git add a", []string{"git add b", "git add -A", "git add -- b", "git add ."}, []string{"git add --pathspec-from-fil=x", "git add ../x", "git add /etc/x", "git add --chmod=+x a", "git add -p", "git -C x add a"}},
		{"git commit -m x", []string{"git commit -am 'a b'", "git commit --message=y"}, []string{"git commit -F /etc/passwd", "git commit --amend", "git commit --templat=/etc/passwd -m x", "git commit -C HEAD", "git commit --no-verify -m x", "git commit -n -m x"}},
		{"go test ./...", []string{"go test -v -run X ./a", "go test -race -count=1 ./..."}, []string{"go test -exec=x ./...", "go test --exec x ./...", "go test -toolexec=x .", "go test -vettool x .", "go test -o /tmp/x .", "go test -c .", "go test -C /tmp .", "go test -modfile=x .", "go test -overlay x .", "go test . -args -x", "go test ../x", "go test /tmp/x", "go test -coverprofile=/x ."}},
		{"go build ./...", nil, []string{"go build -o /x ./...", "go build ./... -toolexec=x", "go build ./a"}},
		{"go vet ./...", nil, []string{"go vet -vettool=x ./...", "go vet ./a"}},
		{"npm run build", nil, []string{"npm run build --script-shell=x", "npm run build -- x", "npm run publish"}},
		{"npm test", []string{"npm test a.js"}, []string{"npm test --script-shel=x", "npm test -- --config=/x", "npm test --node-options=x"}},
		{"cargo test", []string{"cargo test --release name"}, []string{"cargo test --confi=x", "cargo test --target-dir=/x", "cargo test -- --nocapture", "cargo test --manifest-path x", "cargo +x test"}},
		{"git diff", nil, []string{"git diff --ext-diff", "git diff --outpu=x", "git diff x"}},
		{"make", nil, []string{"make -f x", "make x"}},
	}
	for _, tt := range tests {
		t.Run(tt.given, func(t *testing.T) {
			rules := decide(tt.given).Always
			if len(rules) == 0 {
				t.Fatal("no rule is stored")
			}
			for _, text := range append(tt.runs, tt.given) {
				if d := decide(text, rules...); d.Action != allow {
					t.Errorf("%q is %s (%s)", text, d.Action, d.Reason)
				}
			}
			for _, text := range tt.asks {
				if d := decide(text, rules...); d.Action == allow {
					t.Errorf("%q is allowed by %q", text, rules[0].Pattern)
				}
			}
		})
	}
}

// TestRules_OptionsThatRun holds that a pattern of a user's own does not cover an
// option that runs another program, however it is spelt; "*" alone does.
func TestRules_OptionsThatRun(t *testing.T) {
	for text, pattern := range map[string]string{
		"git fetch --upload-pac=x .": "git *", "git fetch --upload-pack x .": "git *", "git diff --outpu=x": "git *", "git add --pathspec-from-fi=x": "git add*", "go test --exec=x .": "go *", "go build -toolexec=x .": "go build*",
		"go vet -vettool x": "go *", "go build -modfile=x": "go *", "go build -overlay x": "go *", "go build -C /x": "go *", "npm run a --script-shel=x": "npm *", "cargo build --conf x": "cargo *", "make -f/tmp/x": "make *", "make --fil=x": "make *", "find . -execdir x ;": "find *",
	} {
		if d := decide(text, bash(pattern, allow)); d.Action == allow {
			t.Errorf("%q is allowed by %q", text, pattern)
		}
	}
}
