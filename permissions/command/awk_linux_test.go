package command

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"acp-agent/internal/testkit/testreq"
)

// TestAwkReads_AsAwk runs scripts that are taken to read only with each awk of this machine: none
// makes a file, runs a program or shows the environment. The scripts are put together at random of
// pieces that do so, and of such as hide where a string or a pattern ends.
func TestAwkReads_AsAwk(t *testing.T) {
	t.Parallel()
	var awks [][]string
	for _, argv := range [][]string{{"gawk"}, {"mawk"}, {"original-awk"}, {"busybox", "awk"}, {"awk"}} {
		if found, err := exec.LookPath(argv[0]); err == nil {
			awks = append(awks, append([]string{found}, argv[1:]...))
		}
	}
	if len(awks) == 0 {
		testreq.Skip(t, "awk is not installed")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("one 1\ntwo/\"2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	pieces := strings.Split(`{ } ( ) ; , $1 $0 $NF NR x y x[1] 1 2.5 "s" "a\"b" "/" /a/ /\// /[/]/ /"/ /[^a]/ / " \ > >> < | || && ! ~ !~ = == += ++ -- + - * % ^ ? : in if else for while print printf next exit delete length length($0) substr($0,1) split($0,x) `+
		`gsub(/a/,"b") sprintf("%d",x) BEGIN END getline system("touch\tPWNED") close("x") "PWNED" >"PWNED" |"touch\tPWNED" "touch\tPWNED"|getline ENVIRON["CANARY"] ENVIRON for(k\tin\tENVIRON)print\tENVIRON[k] ARGV[1]="x" #x print($1)>"PWNED" print>"PWNED" {print>"PWNED"} `+
		`if(1)/"/;system("touch\tPWNED")#"/ x++/"/;system("touch\tPWNED")#"/ x=length/"/;system("touch\tPWNED");y=1#" length/"/;system("touch\tPWNED")#"/ function f(x){system("touch\tPWNED")} f(1) @load func {print} NR==1 /a/,/b/ x=1 $2=1 s=s$1`, " ")
	r := rand.New(rand.NewPCG(3, uint64(time.Now().UnixNano())))
	ran := 0
	for deadline, round := time.Now().Add(time.Minute), 0; round < 400_000 && ran < testreq.Rounds(300, 3000) && time.Now().Before(deadline); round++ {
		var b strings.Builder
		for range 1 + r.IntN(9) {
			b.WriteString(strings.ReplaceAll(pieces[r.IntN(len(pieces))], "\t", " "))
			b.WriteString([]string{" ", "", "", "\n", ";"}[r.IntN(5)])
		}
		script := b.String()
		if r.IntN(2) == 0 {
			script = "{" + script + "}"
		}
		if !awkReads(script) {
			continue
		}
		for _, awk := range awks {
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			cmd := exec.CommandContext(ctx, awk[0], append(awk[1:], script, "a")...)
			cmd.Dir, cmd.Env = dir, []string{"PATH=/usr/bin:/bin", "CANARY=in the environment"}
			out, _ := cmd.CombinedOutput() // some of the scripts no awk takes
			cancel()
			if files, err := os.ReadDir(dir); err != nil || len(files) != 1 || strings.Contains(string(out), "in the environment") {
				t.Fatalf("%s: %q does more than read: %d files, %v: %s", awk, script, len(files), err, out)
			}
		}
		ran++
	}
	t.Logf("%d scripts ran with %d programs", ran, len(awks))
}
