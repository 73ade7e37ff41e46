package mcp

import (
	"errors"
	"testing"
)

// What the library says around an error is left out, and with it addresses and ids, in
// which a key may stand.
func TestPlainly(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"a request", `calling "initialize": sending "initialize": Not Found`, "Not Found"},
		{"one that was lost", `calling "initialize": rejected by transport: sending "initialize": Bad Gateway`, "Bad Gateway"},
		{"an address", `sending "tools/call": failed to reconnect (session ID: s3cret): Get "https://a.example/mcp?key=s3cret": EOF`, "failed to reconnect: EOF"},
		{"a body", `sending "tools/call": failed to read body: unexpected EOF`, "unexpected EOF"},
		{"another error", "it did not answer within 30s", "it did not answer within 30s"},
		{"nothing else", `calling "x": `, `calling "x": `},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := plainError(errors.New(tt.text)).Error(); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
