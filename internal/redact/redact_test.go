package redact_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"acp-agent/internal/redact"
)

func TestText_Shapes(t *testing.T) {
	const token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9"
	tests := []struct{ name, text, want string }{
		{"OpenAI", "key sk-abcdefghijklmnop1234.", "key [redacted]."},
		{"two", "sk-abcdefghijklmnop1234 sk-ponmlkjihgfedcba4321", "[redacted] [redacted]"},
		{"GitHub", "ghp_" + strings.Repeat("a1", 18), "[redacted]"},
		{"Amazon", "AKIAIOSFODNN7EXAMPLE", "[redacted]"},
		{"Slack", "xoxb-1234567890-abc", "[redacted]"},
		{"token", "t=" + token + ";", "t=[redacted];"},
		{"URL", "get https://ann:pass@host/x", "get https://[redacted]@host/x"},
		{"URL with a token alone", "clone HTTPS://0123abcd@host/x", "clone HTTPS://[redacted]@host/x"},
		{"URL in quotes", `"https://ann:p@ss@host"`, `"https://[redacted]@host"`},
		{"header", "Authorization: Bearer abcdef123456", "Authorization: Bearer [redacted]"},
		{"header in JSON", `{"authorization":"Basic YW5uOnBhc3M="}`, `{"authorization":"Basic [redacted]"}`},
		{"header in Go", "map[Authorization:[Bearer abcdef123456]]", "map[Authorization:[Bearer [redacted]]]"},
		{"header in a log", `msg="Authorization: \"abcdef123456\""`, `msg="Authorization: \"[redacted]\""`},
		{"bearer", "sent bearer abcdef123456", "sent bearer [redacted]"},
		{
			"private key", "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nx",
			"-----BEGIN RSA PRIVATE KEY-----[redacted]-----END RSA PRIVATE KEY-----\nx",
		},
		{"cut private key", "a -----BEGIN PRIVATE KEY-----\nMIIE", "a -----BEGIN PRIVATE KEY-----[redacted]"},
		{"a word", "task-management-of-all-things sk-short", "task-management-of-all-things sk-short"},
		{"a public key", "-----BEGIN PUBLIC KEY-----\nMIIE", "-----BEGIN PUBLIC KEY-----\nMIIE"},
		{"a URL with a user", "ssh://git@host/x", "ssh://git@host/x"},
		{"a URL with a port", "http://host:80/a@b", "http://host:80/a@b"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := redact.Text(test.text); got != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

func TestValues(t *testing.T) {
	var v redact.Values
	if !v.Empty() {
		t.Error("not empty at first")
	}
	v.Add("tiny", "pass word/9+", "pass word/9+and more", `quo"ted\key`)
	tests := []struct{ name, text, want string }{
		{"as it is", "a pass word/9+ b", "a [redacted] b"},
		{"the longer one whole", "pass word/9+and more", "[redacted]"},
		{"in a query", "q=pass+word%2F9%2B", "q=[redacted]"},
		{"in a path", "/pass%20word%2F9+", "/[redacted]"},
		{"in JSON", `{"k":"quo\"ted\\key"}`, `{"k":"[redacted]"}`},
		{"in JSON with escaped slashes", `{"k":"pass word\/9+"}`, `{"k":"[redacted]"}`},
		{"too short to be looked for", "tiny", "tiny"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := v.Known(test.text); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	if got := v.Known("sk-abcdefghijklmnop1234"); !strings.Contains(got, "sk-") {
		t.Errorf("a shape was taken for a value: %q", got)
	}
}

// However a text is cut into pieces, no value gets through, and nothing else is lost.
func TestStream(t *testing.T) {
	var v redact.Values
	v.Add("secret-value-1", "value-1-secret")
	const text = "a secret-value-1-secret b sec secret-value-1"
	for cut := 1; cut < len(text); cut++ {
		out, stream := "", redact.Stream{Values: &v}
		for i := 0; i < len(text); i += cut {
			out += stream.Next(text[i:min(i+cut, len(text))])
		}
		if out += stream.Rest(); out != "a [redacted]-secret b sec [redacted]" && out != "a secret-[redacted] b sec [redacted]" {
			t.Errorf("in pieces of %d: %q", cut, out)
		}
	}
}

func TestHolds(t *testing.T) {
	tests := []struct {
		value string
		want  bool
	}{
		{"", false},
		{"dummy", true},
		{"a dummy", false},
		{"long-secret-value", true},
		{"x=long-secret-value", true},
		{"https://a:b@c", true},
		{"sk-abcdefghijklmnop1234", true},
		{"plain", false},
	}
	for _, test := range tests {
		if got := redact.Holds(test.value, []string{"", "dummy", "long-secret-value"}); got != test.want {
			t.Errorf("Holds(%q) = %v", test.value, got)
		}
	}
}

func TestDistinct(t *testing.T) {
	for value, want := range map[string]bool{
		"": false, "lm-studio": false, "sk-no-key-required-at-all": false, "12345678": false, "sk-0123456789abcdef": true,
	} {
		if got := redact.Distinct(value); got != want {
			t.Errorf("Distinct(%q) = %v", value, got)
		}
	}
}

func TestValues_Concurrent(t *testing.T) {
	var v redact.Values
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			value := fmt.Sprintf("secret-value-%d", i)
			v.Add(value)
			if got := v.Known(value); strings.Contains(got, value) {
				t.Errorf("%q", got)
			}
		})
	}
	group.Wait()
}

func FuzzText(f *testing.F) {
	f.Add("Authorization: Bearer sk-abcdefghijklmnop1234 https://a:b@c eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0.dozjgNryP4J3")
	f.Add("-----BEGIN PRIVATE KEY-----x")
	f.Fuzz(func(t *testing.T, text string) {
		const key = "sk-abcdefghijklmnop1234"
		if got := redact.Text(text + " " + key); strings.Contains(got, " "+key) { // what is glued to a word is none
			t.Errorf("%q", got)
		}
	})
}

// TestText_CredentialsInAnyCase holds that the search for the words that announce credentials
// misses none.
func TestText_CredentialsInAnyCase(t *testing.T) {
	for _, text := range []string{
		"authorization: abcdef123", "AUTHORIZATION: abcdef123", "xx AuThOrIzAtIoN: Basic abcdef123", "zZ Proxy-Authorization=abcdef123",
		"bearer abcdef123", "BEARER abcdef123", "bb B Bearer abcdef123", "beare bearer abcdef123",
	} {
		if got := redact.Text(text); strings.Contains(got, "abcdef123") {
			t.Errorf("Text(%q) = %q", text, got)
		}
	}
	for _, text := range []string{"", "b", "z", "authorizatio", "a lazy bear"} {
		if got := redact.Text(text); got != text {
			t.Errorf("Text(%q) = %q", text, got)
		}
	}
}
