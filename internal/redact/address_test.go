package redact_test

import (
	"strings"
	"testing"

	"acp-agent/internal/redact"
)

func TestAddresses(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"a password", "origin\thttps://ann:s3cret@git.example/x.git (fetch)", "origin\thttps://[redacted]@git.example/x.git (fetch)"},
		{"two", "a https://a:b1@h/x b HTTP://c:d2@h", "a https://[redacted]@h/x b HTTP://[redacted]@h"},
		{"a token alone", "https://ghp_" + strings.Repeat("a1", 18) + "@github.com/x", "https://[redacted]@github.com/x"},
		{"another token alone", "url = https://0123456789abcdef0123@host/x", "url = https://[redacted]@host/x"},
		{"a token and a fixed password", "https://0123456789abcdef0123:x-oauth-basic@host/x", "https://[redacted]@host/x"},
		{"a token with a fixed user", "https://x-access-token:ghs_abc@host/x", "https://[redacted]@host/x"},
		{"quoted", `"https://ann:s3cret@host"`, `"https://[redacted]@host"`},
		{"with a port", "ssh://ann:s3cret@host:22/x", "ssh://[redacted]@host:22/x"},
		{"an at sign in the password", "https://ann:p@ss@host/x", "https://[redacted]@host/x"},
		{"git", "git+https://ann:s3cret@host/x", "git+https://[redacted]@host/x"},
		{"a user alone", "https://ann@dev.example/x ssh://git@host/x", "https://ann@dev.example/x ssh://git@host/x"},
		{"none", "https://host:80/a@b http://h/?q=a:b@c", "https://host:80/a@b http://h/?q=a:b@c"},
		{"a variable", "https://$USER:${TOKEN}@host https://%s:%s@host https://{user}:{key}@h", "https://$USER:${TOKEN}@host https://%s:%s@host https://{user}:{key}@h"},
		{"an example", "https://user:password@example.com", "https://user:password@example.com"},
		{"another scheme", "postgres://app:app1@localhost/test", "postgres://app:app1@localhost/test"},
		{"done", "https://[redacted]@host", "https://[redacted]@host"},
		{"no scheme", "://a:b@c git@host:x/y.git", "://a:b@c git@host:x/y.git"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := redact.Addresses(test.text); got != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
			for cut := 1; cut < len(test.text)+1; cut++ {
				if got := pieces(test.text, cut); got != test.want {
					t.Fatalf("in pieces of %d: %q", cut, got)
				}
			}
		})
	}
}

// pieces is a text after a stream that was given it in pieces of a size.
func pieces(text string, cut int) string {
	var out strings.Builder
	stream := redact.Stream{Addresses: true}
	for i := 0; i < len(text); i += cut {
		out.WriteString(stream.Next(text[i:min(i+cut, len(text))]))
	}
	out.WriteString(stream.Rest())
	return out.String()
}

// Output that holds no address is not held back longer than its last letters.
func TestStream_OrdinaryOutputFlows(t *testing.T) {
	stream := redact.Stream{Addresses: true}
	for _, line := range []string{"compiling\n", "....", " 40%\r", "see https://host/x\n"} {
		if got := stream.Next(line); got != line {
			t.Errorf("%q gave %q", line, got)
		}
	}
}

func FuzzAddresses(f *testing.F) {
	f.Add("see https://ann:s3cret@host/x", 3)
	f.Add("https", 1)
	f.Fuzz(func(t *testing.T, text string, cut int) {
		whole := redact.Addresses(text)
		if again := redact.Addresses(whole); again != whole {
			t.Errorf("%q becomes %q", whole, again)
		}
		if cut > 0 && len(text) < 2000 {
			if got := pieces(text, cut); got != whole {
				t.Errorf("whole %q, in pieces of %d %q", whole, cut, got)
			}
		}
	})
}
