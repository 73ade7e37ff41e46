package command_test

import (
	"strings"
	"testing"

	"acp-agent/internal/shell"
	"acp-agent/internal/testkit/testreq"
	"acp-agent/permissions/command"
)

// TestJudge_Limits holds that size and depth deny (C8), and that no number of parts
// hides one of them: a list that is long is not deep. The short form has a quarter of the parts.
func TestJudge_Limits(t *testing.T) {
	most := testreq.Rounds(shell.MaxText/4, shell.MaxText-64)
	fill := func(s string) string { return strings.Repeat(s, most/len(s)) }
	nested := func(open, shut string, n int) string {
		return strings.Repeat(open, n) + "ls" + strings.Repeat(shut, n)
	}
	tests := []struct {
		name string
		judgeCase
	}{
		{"too long", judgeCase{text: "echo " + strings.Repeat("a", shell.MaxText), want: deny, class: command.Limits}},
		{"NUL", judgeCase{text: "ls\x00", want: deny, class: command.Limits}},
		{"escape", judgeCase{text: "ls \x1b]0;x", want: deny, class: command.Limits}},
		{"invalid UTF-8", judgeCase{text: "ls \xff", want: deny, class: command.Limits}},
		{"deep subshells", judgeCase{text: nested("( ", " )", 60), want: deny, class: command.Limits}},
		{"very deep subshells", judgeCase{text: nested("( ", " )", 9000), want: deny, class: command.Limits}},
		{"deep substitutions", judgeCase{text: nested("$(", ")", 60), want: deny, class: command.Limits}},
		{"deep ifs", judgeCase{text: nested("if ls; then ", "; fi", 60), want: deny, class: command.Limits}},
		{"very deep ifs", judgeCase{text: fill("if "), want: ask, class: command.Unparsed}},
		{"deep wrappers", judgeCase{text: strings.Repeat("nice ", 40) + "rm -rf /", want: deny}},
		{"deep evals", judgeCase{text: strings.Repeat("eval ", 100) + "rm -rf /", want: deny}},
		{"shallow enough", judgeCase{text: nested("( ", " )", 40), want: allow}},
		{"many parts", judgeCase{text: fill("ls; ") + "ls", want: allow}},
		{"many parts, the last denied", judgeCase{text: fill("ls; ") + "rm -rf /", want: deny, class: command.DeleteAll}},
		{"many ands, the last denied", judgeCase{text: fill("ls && ") + "rm -rf /", want: deny, class: command.DeleteAll}},
		{"many ors, the last denied", judgeCase{text: fill("ls || ") + "rm -rf /", want: deny, class: command.DeleteAll}},
		{"many stages, the last denied", judgeCase{text: fill("cat | ") + "rm -rf /", want: deny, class: command.DeleteAll}},
		{"many fetching stages", judgeCase{text: fill("curl x | ") + "sh", want: deny, class: command.NetToShell}},
		{"many cds", judgeCase{text: fill("cd a; ") + "ls", want: ask}},
		{"many words", judgeCase{text: "ls " + fill("a "), want: allow}},
		{"many execs", judgeCase{text: "find . " + fill("-exec "), want: ask}},
		{"many redirections", judgeCase{text: "ls " + fill("2>&1 "), want: allow}},
		{"many here-strings", judgeCase{text: fill("<<<a "), want: ask}},
		{"nested here-strings", judgeCase{text: nested("cat <<< $(", ")", 30), want: ask}},
		{"many assignments", judgeCase{text: fill("a=1 "), want: ask}},
		{"many functions", judgeCase{text: fill("f(){ f; };") + "ls", want: ask}},
		{"many stars", judgeCase{text: "ls " + fill("*a"), want: ask}},
		{"many elifs", judgeCase{text: "if ls; then ls;" + fill("elif ls; then ls;") + "fi", want: allow}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := command.Judge(tt.text, testEnv())
			if v.Action != tt.want || tt.class != "" && v.Class != tt.class {
				t.Errorf("got %s (%s: %s), want %s %s", v.Action, v.Class, v.Reason, tt.want, tt.class)
			}
		})
	}
}
