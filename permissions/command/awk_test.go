package command

import "testing"

// TestAwkReads holds which scripts of awk are known to do nothing but read, calculate and print.
func TestAwkReads(t *testing.T) {
	t.Parallel()
	for _, script := range []string{
		`{print $1}`, `NR==1`, `/a/,/b/`, `NR>=3 && NR<=5`, `BEGIN {FS=","} {print $2; n++} END {print n}`,
		`/^type x/{f=1} f{print} /^}/{if(f)exit}`, `{printf "%.1fM %s\n", $5/1048576, $9}`,
		`{for(i=2;i<=NF;i++) printf "%c%c", ($i/64)%8+48, $i%8+48}`, `{val = sprintf("%d", "0" $1); printf "%c", int(val/256)}`,
		`{s+=$1} END{print s/NR}`, `{a[$1]++} END {for (k in a) print k, a[k]}`, `!seen[$0]++`, `length > 80`, `length($0) > 80 {print FILENAME ":" FNR}`,
		"{\n  if ($1 == \"x\") {\n    print\n  } else if ($2 ~ /y/) {\n    next\n  }\n}", `{gsub(/a\/b/, "c"); print}`, `{$1=""; print $0}`,
		`{print (a > b)}`, `{x = a > b ? 1 : 2}`, `{print $(NF-1)}`, `$NF ~ /[.]go$/ {print tolower($0)}`, `NR % 2`, `{ while (i < 3) i++ }`, `{delete a[1]}`,
	} {
		if !awkReads(script) {
			t.Errorf("%s is not known to read", script)
		}
	}
	for _, script := range []string{
		``, `{system("id")}`, `BEGIN{"id" | getline x; print x}`, `{getline x < "/etc/passwd"; print x}`, `{print > "x"}`, `{print $1 >> "x"}`, `{print a, (b) > "x"}`,
		`{print | "sh"}`, `{print |& "sh"}`, `{printf("%s", $1) > "x"}`, `{print(1)(2) > "x"}`, `{if (1) print > "x"; else print}`, `{print 1 >= "x"}`,
		`{print ENVIRON["HOME"]}`, `{x = awk::ENVIRON["HOME"]}`, `{for (k in ENVIRON) print k}`, `{split(ENVIRON, a)}`, `BEGIN{ARGV[1]="/etc/passwd"}`, `BEGIN{ARGC=2}`, `{print SYMTAB["ENVIRON"]}`,
		`{NF=1000000000}`, `{NF+=9}`, `BEGIN{CONVFMT="%n"}`, `{$100000=1}`, `{$x=1}`, `{$(9999999)=1}`, `function f() {system("x")} {f()}`, `@load "x"`, `{@f()}`, `{f(1)}`, `{close("x")}`,
		`{print "a}`, `{print /a}`, "{print \"a\nb\"}", `/[/]/ {print}`, `/[\]/ {print}`, `/[]/]x/`, `{if(1)/"/;system("id")}`, `{x++ /"/; system("id") }`, "{print 1 \\\n> \"x\"}",
		`{print 1 # > "x"` + "\n}", `{print "é"}`, `{print`, `print}`, `{return}`, `{fflush()}`, `{a b("x")}`, "BEGIN{ x = length /\"/; system(\"id\"); y = 1 # \"\n}", `{x = length / 2}`, `{1=2}`, `{length=2}`,
	} {
		if awkReads(script) && script != "" {
			t.Errorf("%s is taken to read", script)
		}
	}
}
