package command_test

import (
	"slices"
	"testing"

	"acp-agent/permissions"
	"acp-agent/permissions/command"
)

// What is not waited for is known for it, however it is written.
func TestJudge_Background(t *testing.T) {
	tests := []struct {
		text string
		want bool
	}{
		{"ls", false},
		{"make && make test", false},
		{"make | tee log", false},
		{"git commit -m 'a & b'", false},
		{"make 2>&1", false},
		{"echo nohup", false},
		{"make &", true},
		{"make & wait", true},
		{"(make &)", true},
		{"if true; then make & fi", true},
		{"make > log 2>&1 &", true},
		{"sh -c 'make &'", true},
		{"eval 'make &'", true},
		{"coproc make", true},
		{"coproc NAME { make; }", true},
		{"nohup make", true},
		{"/usr/bin/nohup make", true},
		{"nice nohup make", true},
		{"env A=b setsid make", true},
		{"timeout 5 setsid -f make", true},
		{"find . -exec nohup {} +", true},
		{"$(setsid make)", true},
		{"make; disown", true},
		{"systemd-run make", true},
		{"tmux new -d make", true},
		{"dtach -n socket make", true},
		{"gpg-agent --daemon", true},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			parts := command.Judge(tt.text, testEnv()).Parts
			got := slices.ContainsFunc(parts, func(p command.Part) bool { return p.Background })
			if got != tt.want {
				t.Errorf("got %v, want %v: %+v", got, tt.want, parts)
			}
			marked := slices.ContainsFunc(command.Judge(tt.text, testEnv()).Resources(), func(r permissions.Resource) bool {
				return r.Judged != nil && r.Judged.Background
			})
			if marked != tt.want {
				t.Errorf("as a resource: got %v, want %v", marked, tt.want)
			}
		})
	}
}
