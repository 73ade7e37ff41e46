package shell_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/shell"
)

func TestPreprocess(t *testing.T) {
	type result struct{ Cmd, Cwd string }
	tests := []struct {
		name, cmd, cwd string
		want           result
	}{
		{"plain", "ls -la", "/w", result{"ls -la", "/w"}},
		{"empty", "", "/w", result{"", "/w"}},
		{"background", "sleep 9 &", "/w", result{"sleep 9", "/w"}},
		{"background with blanks", "sleep 9 & ", "/w", result{"sleep 9", "/w"}},
		{"background without blank", "sleep 9&", "/w", result{"sleep 9", "/w"}},
		{"background newline", "sleep 9 &\n", "/w", result{"sleep 9", "/w"}},
		{"only the last", "a & b &", "/w", result{"a & b", "/w"}},
		{"and is kept", "a && b", "/w", result{"a && b", "/w"}},
		{"dangling and is kept", "a &&", "/w", result{"a &&", "/w"}},
		{"dangling and with blanks", "a && ", "/w", result{"a && ", "/w"}},
		{"quoted", `echo "a &"`, "/w", result{`echo "a &"`, "/w"}},
		{"single quoted", `echo 'a &'`, "/w", result{`echo 'a &'`, "/w"}},
		{"escaped", `echo a \&`, "/w", result{`echo a \&`, "/w"}},
		{"escaped blank before", `echo a\ &`, "/w", result{`echo a\ `, "/w"}},
		{"redirection", "ls 2>&1", "/w", result{"ls 2>&1", "/w"}},
		{"redirection and background", "ls 2>&1 &", "/w", result{"ls 2>&1", "/w"}},
		{"close", "ls >&-", "/w", result{"ls >&-", "/w"}},
		{"in a subshell", "(sleep 9 &)", "/w", result{"(sleep 9 &)", "/w"}},
		{"in a comment", "ls # a &", "/w", result{"ls # a &", "/w"}},
		{"before a comment", "ls & # a", "/w", result{"ls & # a", "/w"}},
		{"list in background", "a && b &", "/w", result{"a && b", "/w"}},
		{"here-document in background", "cat <<E &\nx\nE\n", "/w", result{"cat <<E &\nx\nE\n", "/w"}},

		{"cd", "cd sub && ls", "/w", result{"ls", "/w/sub"}},
		{"cd without blanks", "cd sub&&ls", "/w", result{"ls", "/w/sub"}},
		{"cd twice", "cd a && cd b && x", "/w", result{"x", "/w/a/b"}},
		{"cd absolute", "cd /x/y && ls", "/w", result{"ls", "/x/y"}},
		{"cd quoted", `cd "my dir" && x`, "/w", result{"x", "/w/my dir"}},
		{"cd single quoted", `cd 'my dir' && x`, "/w", result{"x", "/w/my dir"}},
		{"cd escaped blank", `cd my\ dir && x`, "/w", result{"x", "/w/my dir"}},
		{"cd home", "cd ~ && x", "/w", result{"x", "/home/ann"}},
		{"cd below home", "cd ~/p && x", "/w", result{"x", "/home/ann/p"}},
		{"cd quoted tilde is a name", "cd '~' && x", "/w", result{"x", "/w/~"}},
		{"cd parent", "cd .. && x", "/w/a", result{"x", "/w"}},
		{"cd then rest of list", "cd a && x && y || z; w", "/w", result{"x && y || z; w", "/w/a"}},
		{"cd then pipe", "cd a && x | y", "/w", result{"x | y", "/w/a"}},
		{"cd on two lines", "cd a &&\n  x\n", "/w", result{"x\n", "/w/a"}},
		{"cd and background", "cd a && sleep 9 &", "/w", result{"sleep 9", "/w/a"}},
		{"cd and here-document", "cd a && cat <<E\nx\nE\n", "/w", result{"cat <<E\nx\nE\n", "/w/a"}},
		{"cd then unknown", "cd a && cd $X && y", "/w", result{"cd $X && y", "/w/a"}},

		{"cd variable", "cd $X && y", "/w", result{"cd $X && y", "/w"}},
		{"cd quoted variable", `cd "$X" && y`, "/w", result{`cd "$X" && y`, "/w"}},
		{"cd backtick", "cd `x` && y", "/w", result{"cd `x` && y", "/w"}},
		{"cd glob", "cd a* && y", "/w", result{"cd a* && y", "/w"}},
		{"cd brace", "cd {a,b} && y", "/w", result{"cd {a,b} && y", "/w"}},
		{"cd minus", "cd - && y", "/w", result{"cd - && y", "/w"}},
		{"cd option", "cd -P a && y", "/w", result{"cd -P a && y", "/w"}},
		{"cd double dash", "cd -- a && y", "/w", result{"cd -- a && y", "/w"}},
		{"cd alone", "cd a", "/w", result{"cd a", "/w"}},
		{"cd nowhere", "cd && y", "/w", result{"cd && y", "/w"}},
		{"cd empty", "cd '' && y", "/w", result{"cd '' && y", "/w"}},
		{"cd semicolon", "cd a; y", "/w", result{"cd a; y", "/w"}},
		{"cd or", "cd a || y", "/w", result{"cd a || y", "/w"}},
		{"cd redirected", "cd a 2>/dev/null && y", "/w", result{"cd a 2>/dev/null && y", "/w"}},
		{"cd negated", "! cd a && y", "/w", result{"! cd a && y", "/w"}},
		{"cd with assignment", "X=1 cd a && y", "/w", result{"X=1 cd a && y", "/w"}},
		{"cd in background list", "cd a && x & y", "/w", result{"cd a && x & y", "/w"}},
		{"cd and back", "cd a && x && cd -", "/w", result{"cd a && x && cd -", "/w"}},
		{"cd and OLDPWD", "cd a && ls $OLDPWD", "/w", result{"cd a && ls $OLDPWD", "/w"}},
		{"cd other user", "cd ~bob && x", "/w", result{"cd ~bob && x", "/w"}},
		{"cdx is no cd", "cdx a && y", "/w", result{"cdx a && y", "/w"}},

		{"tilde in cwd", "ls", "~/p", result{"ls", "/home/ann/p"}},
		{"tilde cwd and cd", "cd a && ls", "~", result{"ls", "/home/ann/a"}},
		{"a comment that seems to go on", "cd a && ls # x \\\ntouch y", "/w", result{"cd a && ls # x \\\ntouch y", "/w"}},
		{"a comment that seems to go on, in the background", "ls # x \\\ny &", "/w", result{"ls # x \\\ny &", "/w"}},
		{"a here-document that seems to go on", "cd a && cat <<E\n\\\nE\n", "/w", result{"cd a && cat <<E\n\\\nE\n", "/w"}},
		{"a line that goes on", "cd a && ls \\\n-l", "/w", result{"ls \\\n-l", "/w/a"}},
		{"does not parse", "cd a && 'x", "/w", result{"cd a && 'x", "/w"}},
		{"does not parse background", "if true &", "/w", result{"if true &", "/w"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cmd, cwd, err := shell.Preprocess(tt.cmd, tt.cwd, "/home/ann", nil)
			if err != nil {
				t.Fatalf("Preprocess(%q): %v", tt.cmd, err)
			}
			if diff := cmp.Diff(tt.want, result{cmd, cwd}); diff != "" {
				t.Errorf("Preprocess(%q, %q) (-want +got)\n%s", tt.cmd, tt.cwd, diff)
			}
		})
	}
}

func TestPreprocess_Refuses(t *testing.T) {
	for name, text := range map[string]string{
		"NUL": "ls\x00", "escape": "ls \x1b[1m", "carriage return": "ls\r\n", "delete": "ls\x7f",
		"C1": "ls \u0085", "invalid UTF-8": "ls \xff", "too long": strings.Repeat("a", shell.MaxText+1),
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := shell.Preprocess(text, "/w", "", nil)
			var textErr *shell.TextError
			if !errors.As(err, &textErr) {
				t.Fatalf("error is %v, want a *TextError", err)
			}
			if strings.Contains(err.Error(), text) {
				t.Errorf("the error %q repeats the text", err)
			}
		})
	}
	if err := shell.CheckText(strings.Repeat("a", shell.MaxText) + ""); err != nil {
		t.Errorf("a text of exactly the limit: %v", err)
	}
	if err := shell.CheckText("é\t\n\ufffd"); err != nil {
		t.Errorf("plain text: %v", err)
	}
}

func TestPreprocess_NoHome(t *testing.T) {
	cmd, cwd, err := shell.Preprocess("cd ~/a && ls", "~", "", nil)
	if err != nil || cmd != "cd ~/a && ls" || cwd != "~" {
		t.Errorf("got %q, %q, %v; want everything unchanged", cmd, cwd, err)
	}
}

func TestPreprocess_POSIX(t *testing.T) {
	cmd, cwd, err := shell.PreprocessIn(shell.POSIX, "cd a && cat <(x)", "/w", "", nil)
	if err != nil || cwd != "/w" || cmd != "cd a && cat <(x)" {
		t.Errorf("got %q, %q, %v: what POSIX cannot parse must stay", cmd, cwd, err)
	}
}

// FuzzPreprocess holds that the command that runs is a piece of the command that came,
// still parses when that did, and that preprocessing it again changes nothing more.
func FuzzPreprocess(f *testing.F) {
	for _, seed := range []string{
		"cd a && b &", "cd 'a b' && cd ~/x && y", `echo a\ &`, "a &&", "cat <<E &\nx\nE\n", "cd $(x) && y", "# c\ncd a && b", "cd a && (b &) &", "2>&1 &", "cd a\\\n&& b",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		cmd, cwd, err := shell.Preprocess(text, "/w", "/home/ann", nil)
		if err != nil {
			return
		}
		if !strings.Contains(text, cmd) {
			t.Fatalf("%q became %q, which is no part of it", text, cmd)
		}
		if _, err := shell.Parse(text, shell.Bash); err == nil {
			if _, err := shell.Parse(cmd, shell.Bash); err != nil {
				t.Fatalf("%q became %q, which does not parse: %v", text, cmd, err)
			}
		} else if cmd != text || cwd != "/w" {
			t.Fatalf("%q does not parse and was changed to %q in %q", text, cmd, cwd)
		}
		if len(cmd) == len(text) && cwd != "/w" {
			t.Fatalf("%q moved to %q without losing its cd", text, cwd)
		}
	})
}
