package kinds_test

import (
	"testing"

	"acp-agent/kinds"
)

func TestFence(t *testing.T) {
	tests := []struct{ name, language, text, want string }{
		{"plain", "", "a", "```\na\n```"},
		{"language", "sh", "ls\n", "```sh\nls\n```"},
		{"empty", "", "", "```\n\n```"},
		{"short runs", "", "`a` ``b``", "```\n`a` ``b``\n```"},
		{"a fence within", "", "```\nx\n```\n", "````\n```\nx\n```\n````"},
		{"a longer fence within", "console", "`````", "``````console\n`````\n``````"},
		{"only the last line break goes", "", "a\n\n", "```\na\n\n```"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := kinds.Fence(test.language, test.text); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestCode(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"plain", "go test ./...", "`go test ./...`"},
		{"backticks", "a `b`", "`a 'b'`"},
		{"lines", "a\n\tb", "`a b`"},
		{"too long", "abcdefghijklmnopq", "`abcdefghijklmno…`"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := kinds.Code(test.text, 16); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
