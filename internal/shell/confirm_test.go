package shell_test

import (
	"errors"
	"strings"
	"testing"

	"acp-agent/internal/shell"
)

// TestConfirm holds which texts two readers must agree about, and where each kind of text
// that shells may read differently ends: it does not parse, is doubtful, is outside the
// plain language, or the readings differ.
func TestConfirm(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"words", `ls -la 'a b' "c $" d\ e $'f\tg' --x=y a#b ~`, ""},
		{"lists", "a && b || c; d | e |& f\ng & h\n", ""},
		{"constructs", "if a; then (b; c); elif d\nthen { e; }; else ! f | g; fi 2>/dev/null; case x in (a|b*) c;; d) ;; esac", ""},
		{"redirections", "a <b 2>c >>d 2>&1 >&- <<<e <>f >|g &>h", ""},
		{"here-documents", "a <<E; b <<-'F' # c\nx\nE\n\ty\\\n\tF\nd", ""},
		{"a here-document at the end of the text", "cat <<\\E.1\nx\nE.1", ""},
		{"comments", "# a\nls # b\n; \n", "does not parse"},
		{"a comment after a semicolon", "ls;# b 'c\npwd", ""},
		{"declarations", "export A=b 'C=d' E; declare -x F='g h'\nreadonly I=", ""},
		{"continued lines", "ls \\\n -la \\\n\t&& pwd", ""},

		{"quotes in a delimiter", "cat <<\"E\\\"F\"\nx\nE\"F\ntouch x\nE\\\"F\n", "doubtful"},
		{"an empty part of a delimiter", "cat <<''#;touch P\n#\n\n", "doubtful"},
		{"a delimiter that is not ASCII", "cat <<é\né\ntouch x\né\n", "doubtful"},
		{"a delimiter inside of a substitution", "x $(cat <<'a b'\na b\n)", "doubtful"},
		{"a comment that ends in a backslash", "ls # a \\\ntouch b", "doubtful"},
		{"a continued line in an expanded here-document", "cat <<E\nx\\\nE\nE\n", "doubtful"},
		{"a here-document without an end", "cat <<E\nx\n", "does not parse"},

		{"a substitution in a pattern", "[[ a == @(b|$(x)) ]]", "differs"},
		{"one in an older form", "[[ a == !(`x`) ]]", "differs"},
		{"the substitution of a process in an operand", "ls ${a:-<(x)}", "differs"},
		{"in a group of a pattern", "[[ a =~ (b|<(x)) ]]", "differs"},
		{"in a replacement", "ls ${a/b/>(x)}", "differs"},
		{"in an operand of an operand", "ls ${a:-${b#c<(x)}}", "differs"},
		{"single quotes that are none in double quotes", `ls "${a:-'$(x)'}"`, "differs"},
		{"the same in a here-document", "cat <<E\n${a:-'`x`'}\nE", "differs"},
		{"an operand that ends in such quotes", `ls "${a:-it's}"; x; ls "${b:-it's}"`, "differs"},
		{"single quotes in arithmetic", "ls $(( '$(x)' ))", "differs"},
		{"in a command of a substitution", "ls $(ls ${a:-<(x)})", "differs"},

		{"a here-document that ends within an operand", "cat <<E\n${a:-\nE\nx\n}\nE", "differs"},
		{"within quotes in a substitution", "cat <<-E\n$(ls 'a\n\tE\nx\n')\n\tE", "differs"},
		{"within a here-document in it", "cat <<E\n$(cat <<F\nE\nx\nF\n)\nE", "differs"},

		{"expansions", "ls $x", "outside"},
		{"expansions in here-documents", "cat <<E <<-F && ls\n$x\nF\n E\nE\n\t$(ls)\n\t\tF\nls", "outside"},
		{"a pattern of words", "[[ a == @(b|$c) ]]", "outside"},
		{"quotes in an operand", `ls ${a:-'$(x)'} "${b:-'c d'}" "${c:-$(ls 'd}')}" "${d:-"<("}"`, "outside"},
		{"a loop", "while a; do b; done", "outside"},
		{"a function", "f() { a; }", "outside"},
		{"an arithmetic command", "((a))", "outside"},
		{"a keyword after a redirection", ">a in", "outside"},
		{"a no-break space", "ls a\u00a0b", "outside"},
		{"a byte that is a blank on some systems", "ls à", "outside"},
		{"a backslash after what is not ASCII", "ls \"é\\\\\"", "outside"},
		{"a line continued inside of a word", "l\\\ns", "outside"},
		{"a comment after an operator", "ls |# c\ncat", "outside"},
		{"a large descriptor", "ls 999999999999>&1", "outside"},
		{"braces", "ls a{b", "outside"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := reading(tt.text); got != tt.want {
				t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
			}
		})
	}
}

// reading says what becomes of a text; "" means that both readers agree.
func reading(text string) string {
	file, err := shell.Parse(text, shell.Bash)
	switch {
	case errors.Is(err, shell.ErrDoubtful):
		return "doubtful"
	case err != nil:
		return "does not parse"
	}
	switch err := shell.Confirm(text, file, shell.Bash, shell.AnyEncoding); {
	case err == nil:
		return ""
	case shell.Differs(err):
		return "differs"
	default:
		return "outside"
	}
}

// TestConfirm_Differs holds that a tree of another text is noticed, whatever differs.
func TestConfirm_Differs(t *testing.T) {
	const text = "cat a; if b; then c 2>d; fi"
	for _, other := range []string{"cat a; if b; then c 2>e; fi", "cat a; if b; then c 1>d; fi", "cat a& if b; then c 2>d; fi", "cat 'a'; if b; then c 2>d; fi", "cat  a; if b; then c 2>d; fi", "cat a; if b; then c; fi", "a=t a; if b; then c 2>d; fi"} {
		file, err := shell.Parse(other, shell.Bash)
		if err != nil {
			t.Fatal(err)
		}
		if err := shell.Confirm(text, file, shell.Bash, shell.AnyEncoding); !shell.Differs(err) {
			t.Errorf("the tree of %q is taken for one of %q: %v", other, text, err)
		}
	}
}

// TestConfirm_POSIX holds that operators of bash are not plain where only sh exists.
func TestConfirm_POSIX(t *testing.T) {
	for _, text := range []string{"a |& b", "a &>b", "a <<<b", "a $'b'"} {
		if file, err := shell.Parse(text, shell.POSIX); err == nil && shell.Confirm(text, file, shell.POSIX, shell.AnyEncoding) == nil {
			t.Errorf("%q is plain", text)
		}
	}
}

// FuzzConfirm holds that the second reader ends on any text, and that a text that it
// confirms holds nothing that the shell would expand.
func FuzzConfirm(f *testing.F) {
	for _, seed := range []string{"a 'b' \"c\" $'d' \\e", "if a; then b; fi", "case a in b) c;; esac", "cat <<E\nx\nE\n", "a <<-'E' # b\n\tE", "(a|b)&&c||! d", "{ a; } 2>&1", "\\\n#", "é'é'\"é\"", "'", "\"\\", "$'\\", "<<", "2>", ";;", "case a in", "(", "{"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if shell.CheckText(text) != nil || strings.Count(text, "(") > 200 {
			return
		}
		if reading(text) == "" && !strings.ContainsAny(text, "'\"\\#<") && strings.ContainsAny(text, "$`") {
			t.Errorf("%q is confirmed with an expansion", text)
		}
	})
}
