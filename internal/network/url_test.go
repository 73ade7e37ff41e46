package network_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"acp-agent/internal/network"
)

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, raw, want, pair string }{
		{"plain", "https://example.com/a?b=c#d", "https://example.com/a?b=c", "example.com:443"},
		{"no path", "http://example.com", "http://example.com/", "example.com:80"},
		{"case of scheme and host", "HTTPS://EXAMPLE.com/A", "https://example.com/A", "example.com:443"},
		{"one final dot", "http://example.com./", "http://example.com/", "example.com:80"},
		{"usual port said", "https://example.com:443/", "https://example.com/", "example.com:443"},
		{"other port", "http://example.com:0443/", "http://example.com:443/", "example.com:443"},
		{"empty port", "http://example.com:/", "http://example.com/", "example.com:80"},
		{"other alphabet", "http://Bücher.example/ä", "http://xn--bcher-kva.example/%C3%A4", "xn--bcher-kva.example:80"},
		{"wide letters and dots", "http://ｅxample。com/", "http://example.com/", "example.com:80"},
		{"wide digits", "http://１２７.０.０.１/", "http://127.0.0.1/", "127.0.0.1:80"},
		{"address", "http://127.0.0.1.:8080/", "http://127.0.0.1:8080/", "127.0.0.1:8080"},
		{"address of version 6", "http://[0:0::1]:81/", "http://[::1]:81/", "[::1]:81"},
		{"mapped address", "http://[::ffff:7f00:1]/", "http://127.0.0.1/", "127.0.0.1:80"},
		{"hyphens and underscores", "http://r3---a_b.example/", "http://r3---a_b.example/", "r3---a_b.example:80"},
		{"spaces in a query", "http://example.com/a b?c d=\xc3\xa4", "http://example.com/a%20b?c%20d=%C3%A4", "example.com:80"},
		{"slashes", "http://example.com//evil.example", "http://example.com//evil.example", "example.com:80"},
		{"at in the path", "http://example.com/@a:b", "http://example.com/@a:b", "example.com:80"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := network.Parse(tt.raw)
			if err != nil || got.String() != tt.want || got.Pair() != tt.pair {
				t.Errorf("Parse(%q) = %q, pair %q, %v; want %q, pair %q", tt.raw, got, got.Pair(), err, tt.want, tt.pair)
			}
		})
	}
}

func TestParse_Refused(t *testing.T) {
	t.Parallel()
	const spelling, scheme, name = "unusual spelling", "http:// or https://", "host is no valid name"
	tests := []struct{ name, raw, want string }{
		{"empty", "", scheme},
		{"no scheme", "example.com/", scheme},
		{"file", "file:///etc/passwd", scheme},
		{"ftp", "ftp://example.com/", scheme},
		{"data", "data:text/html,x", scheme},
		{"script", "javascript:alert(1)", scheme},
		{"no host", "http:///a", "names no host"},
		{"opaque", "http:example.com", "names no host"},
		{"port alone", "http://:80/", "names no host"},
		{"user", "http://user@example.com/", "user name or password"},
		{"password", "http://u:p@example.com/", "user name or password"},
		{"port 0", "http://example.com:0/", "port is no number"},
		{"port too large", "http://example.com:65616/", "port is no number"},
		{"port no number", "http://example.com:http/", "not a valid address"},
		{"decimal", "http://2130706433/", spelling},
		{"hexadecimal", "http://0x7f000001/", spelling},
		{"hexadecimal parts", "http://0x7f.1/", spelling},
		{"octal", "http://0177.0.0.1/", spelling},
		{"octal number", "http://017700000001/", spelling},
		{"short", "http://127.1/", spelling},
		{"too many parts", "http://1.2.3.4.5/", spelling},
		{"part too large", "http://127.0.0.256/", spelling},
		{"empty hexadecimal", "http://127.0.0.0x/", spelling},
		{"zone", "http://[fe80::1%25eth0]/", "zone"},
		{"broken address", "http://[::1/", "not a valid address"},
		{"name in brackets", "http://[example.com]/", "valid"},
		{"old address in brackets", "http://[127.0.0.1]/", "valid"},
		{"two final dots", "http://example.com../", name},
		{"dot alone", "http://./", name},
		{"empty label", "http://a..b/", name},
		{"long label", "http://" + strings.Repeat("a", 64) + ".com/", name},
		{"long name", "http://" + strings.Repeat("a.", 127) + "com/", name},
		{"letter of no name", "http://exa$mple.com/", name},
		{"broken encoding of a label", "http://xn--a/", name},
		{"escaped letter", "http://%65xample.com/", "not a valid address"},
		{"backslash", `http://example.com\@evil.example/`, "not a valid address"},
		{"line break", "http://example.com/\r\nHost: x", "not a valid address"},
		{"too long", "http://example.com/" + strings.Repeat("a", 2048), "longer than 2048"},
		{"too long once escaped", "http://example.com/" + strings.Repeat("ä", 900), "longer than 2048"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := network.Parse(tt.raw)
			var blocked *network.BlockedError
			if !errors.As(err, &blocked) || !strings.Contains(blocked.Reason, tt.want) {
				t.Errorf("Parse(%q) = %q, %v; want a refusal with %q", tt.raw, got, err, tt.want)
			}
		})
	}
}

// A key in an address does not reach messages.
func TestParse_NothingSecretInMessages(t *testing.T) {
	t.Parallel()
	const key = "canary-4711"
	for _, raw := range []string{
		"http://" + key + "@example.com/", "http://u:" + key + "@example.com/a", "ftp://u:" + key + "@h/", "http://h/\x01?k=" + key,
		"http://127.1/?k=" + key, "http://127.1/#" + key, "http://u:" + key + "@h/" + strings.Repeat("a", 3000),
		"//u:" + key + "@h", "http://u:" + key + "/@h?", "u:" + key + "@h",
	} {
		if _, err := network.Parse(raw); err == nil || strings.Contains(err.Error(), key) {
			t.Errorf("Parse(%q): %v; want an error without the key", raw, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"http://example.com/a?b#c", "https://Bücher.example:8443/%zz", "http://[::ffff:1.2.3.4]:1/", "http://１.1.1.1。/",
		"http://0x7f.1/", "http://u@h/", "http://h/?a b\xff", "http://xn--bcher-kva./..//", "http://a%2eb/",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		target, err := network.Parse(raw)
		if err != nil {
			var blocked *network.BlockedError
			if !errors.As(err, &blocked) {
				t.Fatalf("Parse(%q): %v is no refusal", raw, err)
			}
			return
		}
		again, err := network.Parse(target.String())
		if err != nil || again != target {
			t.Fatalf("Parse(%q) = %q, parsed again %q, %v", raw, target, again, err)
		}
		u, err := url.Parse(target.String())
		if err != nil || u.Hostname() != target.Host || u.User != nil || u.Fragment != "" {
			t.Fatalf("Parse(%q) = %q, which reads as %+v, %v", raw, target, u, err)
		}
		if strings.Trim(target.Host, "abcdefghijklmnopqrstuvwxyz0123456789-_.:") != "" || strings.HasSuffix(target.Host, ".") {
			t.Fatalf("Parse(%q): host %q", raw, target.Host)
		}
	})
}
