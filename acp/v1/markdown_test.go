package v1

import (
	"testing"

	"acp-agent/transcript"
)

// Nothing in an untrusted text is read as Markdown, except code spans where they are allowed,
// and it cannot close a code span early.
func TestLiteral(t *testing.T) {
	for _, tt := range []struct{ name, text, literal, withCode string }{
		{"names", "pkg/__init__.py", `pkg/\_\_init\_\_.py`, `pkg/\_\_init\_\_.py`},
		{"code", "run `a*b*` now", "run \\`a\\*b\\*\\` now", "run `a*b*` now"},
		{"an image", "![a](http://b/c)", `!\[a](http://b/c)`, `!\[a](http://b/c)`},
		{"a backquote that was escaped", "a\\`![b](http://c)`", "a\\\\\\`!\\[b](http://c)\\`", "a\\\\`![b](http://c)`"},
		{"code over lines", "`a\n\n![b](http://c)`", "\\`a\n\n!\\[b](http://c)\\`", "\\`a\n\n!\\[b](http://c)\\`"},
		{"headings", "a `b`\n# c\n  - d", "a \\`b\\`\n\\# c\n\\- d", "a `b`\n\\# c\n\\- d"},
		{"a table", "a | b\n:-- | :--", "a | b\n\\:-- | :--", "a | b\n\\:-- | :--"},
		{"struck out", "a ~b~ ~/c ~~d~~", `a ~b\~ ~/c \~\~d\~\~`, `a ~b\~ ~/c \~\~d\~\~`},
		{"a backslash at the end", `a\`, `a\\`, `a\\`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := literal(tt.text); got != tt.literal {
				t.Errorf("literal: %q, want %q", got, tt.literal)
			}
			if got := literalWithCode(tt.text); got != tt.withCode {
				t.Errorf("with code: %q, want %q", got, tt.withCode)
			}
		})
	}
}

// A quotation in a notice can neither hide characters nor reverse the text around it.
func TestNotice_Visible(t *testing.T) {
	inTurn(t, client{}, func(t *testing.T, tr *translator, r *recorder) {
		r.take()
		tr.Emit(transcript.Notice{Severity: transcript.Warning, Text: "It said: \u202e\x1b[2J"})
		got := r.take()
		if want := "> It said: \\u{202e}\\u{1b}\\[2J\n\n"; len(got) != 1 || got[0].text != want {
			t.Errorf("%+v, want %q", got, want)
		}
	})
}
