package permissions_test

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"acp-agent/permissions"
)

// TestNames_Folded writes the names of secrets and of protected files in every way that
// some file system takes for the same name: none of them is free.
func TestNames_Folded(t *testing.T) {
	names := []string{
		".env", ".env.local", "credentials.json", "id_rsa", "server.pem", ".npmrc", ".ssh", ".aws", ".docker/config.json",
		".git", ".git/hooks/pre-commit", ".mcp.json", ".vscode/settings.json", ".envrc", ".acp-agent/config.jsonc", ".zshrc",
	}
	ends := []string{"", ".", " ", "..", ". ", "::$DATA", ":stream"}
	ignored := []rune{0x200b, 0x200c, 0x200d, 0x200e, 0x202e, 0x2060, 0xfeff, 0x00ad, 0xfe0f}
	rapid.Check(t, func(t *rapid.T) {
		var path strings.Builder
		path.WriteString("/w")
		for part := range strings.SplitSeq(rapid.SampledFrom(names).Draw(t, "name"), "/") {
			path.WriteString("/")
			for _, r := range part {
				if rapid.IntRange(0, 5).Draw(t, "ignored") == 0 {
					path.WriteRune(rapid.SampledFrom(ignored).Draw(t, "rune"))
				}
				for range rapid.IntRange(0, 3).Draw(t, "case") {
					r = unicode.SimpleFold(r)
				}
				path.WriteRune(r)
			}
			path.WriteString(rapid.SampledFrom(ends).Draw(t, "end"))
		}
		if name := path.String(); !permissions.Secret(name) && permissions.Protected(name) == permissions.Unprotected {
			t.Fatalf("%q is neither a secret nor protected", name)
		}
	})
}
