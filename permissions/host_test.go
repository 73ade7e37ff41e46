package permissions_test

import (
	"testing"

	"acp-agent/permissions"
)

// R124: a host in a list has the form of one in a rule, and what would never match is an error.
func TestHostPattern(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"example.com": "example.com", "API.Example.com.": "api.example.com", "example.com:443": "example.com",
		"*.example.com": "*.example.com", "*.example.com:8080": "*.example.com:8080", "*": "*",
		"127.0.0.1:8080": "127.0.0.1:8080", "::1": "::1", "[::1]:80": "[::1]:80", "localhost:3000": "localhost:3000",
		"": "", "https://example.com": "", "example.com/path": "", "a.*.com": "", "*:80": "", "example.com:0": "", "example.com:": "",
		"example.com:80x": "", "exa mple.com": "", "a..b": "", "*.": "", "*.*": "", "bücher.example": "", "fe80::1%eth0": "", "user@example.com": "",
	} {
		got, err := permissions.HostPattern(text)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q is %q, %v; want %q", text, got, err, want)
		}
	}
}
