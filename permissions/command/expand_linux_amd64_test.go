package command_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"acp-agent/internal/testkit/testreq"
	"acp-agent/permissions/command"
)

// TestJudge_ExpandsAsBash runs texts as they were written and as they run after the
// judgement: bash starts the same programs with the same arguments and prints the same.
func TestJudge_ExpandsAsBash(t *testing.T) {
	g := newFuzzWorkspace(t)
	box, env := g.box(t), g.env()
	r := rand.New(rand.NewPCG(7, uint64(time.Now().UnixNano())))
	words := []string{
		"*", "*.go", "src/*", "src/*.go", "s*/m*", "?", "[ab]", "[!a]*", "a*", "{a,b}", "{a,src/main.go}", "x{1..3}y", "{b,a}*", "\"*\"", "'*'.go", "\\*", "no*", "$A", "\"$A\"", "${B}", "$A$B", "\"$B x\"", "$C", "\"$C\"", "$PWD/a", "$i", "\"$i\"", "pre$i", "{}", "{a", "a}", "{a,}x", "*/", "**/main.go", "./*", "./s*/../a", ".g*", "*.{go,md}", "--include=*.go", "[a-c]", "~", "~/*", "~/src/*.go", "~/{a,b}", "~/\"*\"", "x~/*", "\\~/*", "''", "$D",
	}
	word := func() string { return words[r.IntN(len(words))] }
	command1 := func() string {
		return []string{"echo ", "printf '%s\\n' ", "ls -d ", "basename -a "}[r.IntN(4)] + word() + " " + word()
	}
	most := testreq.Rounds(100, 300)
	var texts []string
	for range 2000 {
		text := command1()
		switch r.IntN(7) {
		case 0:
			text = "A=a; B='b'; C=\"a b\"; D=; " + text
		case 1:
			text = "for i in " + word() + " " + word() + "; do " + command1() + "; " + command1() + "; done"
		case 2:
			text = "A=src && " + text + " || { B=b; " + command1() + "; }; " + command1()
		case 3:
			text = "cd src && " + text + "; " + command1()
		case 4:
			text = "if [ -f a ]; then A=a; " + text + "; else A=b; fi; " + command1()
		case 5:
			text = "(A=a; " + text + "); for i in 1 {a,b}; do\n # comment\n A=$i\n" + command1() + "\ndone; " + command1()
		}
		if v := command.Judge(text, env); v.Run != "" {
			texts = append(texts, text, v.Run)
		}
		if len(texts) > most {
			break
		}
	}
	results, err := box.Run(texts)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(texts); i += 2 {
		before, after := results[i], results[i+1]
		same := before.Output == after.Output && slices.EqualFunc(before.Programs, after.Programs, slices.Equal[[]string])
		if !same {
			t.Errorf("%q runs as %q:\nbefore %q\n%q\nafter %q\n%q", texts[i], texts[i+1], before.Programs, before.Output, after.Programs, after.Output)
		}
	}
	t.Logf("%d texts", len(texts)/2)
	if len(texts) < most*2/3 {
		t.Error("too few texts are written out: " + strings.Join(texts, "\n"))
	}
}
