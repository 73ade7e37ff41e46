package oauth_test

import (
	"strings"
	"testing"

	"acp-agent/mcp/oauth"
)

func TestShown_Host(t *testing.T) {
	for _, c := range []struct{ name, address, host string }{
		{"a name is shown", "https://login.example:8443/authorize?a=b", "login.example:8443"},
		{"an IP address is shown", "https://[2001:db8::1]/", "[2001:db8::1]"},
		{"a name in ASCII for another script is shown so", "https://xn--pple-43d.com/", "xn--pple-43d.com"},
		{"a letter that looks like another is refused", "https://%D0%B0pple.com/", ""},
		{"what looks like the end of a host is refused", "https://login.example%E2%81%84.other.example/", ""},
		{"a mark that turns the line around is refused", "https://login.example%E2%80%AEother.example/", ""},
		{"punctuation is refused", "https://login.example,.other.example/", ""},
		{"a parenthesis is refused", "https://login.example(sign-in).other.example/", ""},
		{"a zone is refused", "https://[fe80::1%25login]/", ""},
		{"a user is refused", "https://login.example@other.example/", ""},
		{"a name longer than any is refused", "https://login.example." + strings.Repeat("a.", 200) + "other.example/", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if host, err := oauth.Shown(c.address, false); host != c.host || (err == nil) != (c.host != "") {
				t.Errorf("Shown(%q) = %q, %v, want %q", c.address, host, err, c.host)
			}
		})
	}
}
