package v1

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/acp/schema"
)

// A client that can run a login in a terminal is offered one, in the form that it supports. The
// method that every client supports comes first.
func TestAuthMethods(t *testing.T) {
	const (
		key   = `{"id":"api-key","name":"API key","description":"…"}`
		meta  = `"_meta":{"terminal-auth":{"label":"acp-agent login","command":"/bin/agent","args":["login"],"env":{"XDG_DATA_HOME":"/data"}}}`
		login = `"id":"login","name":"Log in in a terminal","description":"…"`
	)
	for _, tt := range []struct{ name, said, want string }{
		{"nothing", `{}`, `[` + key + `]`},
		{"terminals alone", `{"terminal":true,"auth":{"terminal":false},"_meta":{"terminal-auth":"yes"}}`, `[` + key + `]`},
		{"auth.terminal", `{"auth":{"terminal":true}}`, `[` + key + `,{"type":"terminal",` + login + `,"args":["login"]}]`},
		{"_meta", `{"_meta":{"terminal-auth":true}}`, `[` + key + `,{` + login + `,` + meta + `}]`},
		{
			"both, as Zed", `{"auth":{"terminal":true},"_meta":{"terminal-auth":true}}`,
			`[` + key + `,{"type":"terminal",` + login + `,"args":["login"],` + meta + `}]`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var said schema.ClientCapabilities
			if err := json.Unmarshal([]byte(tt.said), &said); err != nil {
				t.Fatal(err)
			}
			a := &Agent{Options: Options{Login: Login{Command: "/bin/agent", Args: []string{"login"}, Env: map[string]string{"XDG_DATA_HOME": "/data"}}}}
			text, err := json.Marshal(a.authMethods(clientOf(said)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(methodsOf(t, []byte(tt.want)), methodsOf(t, text)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if got := (&Agent{}).authMethods(client{loginTerminals: true}); len(got) != 1 {
		t.Errorf("without a command: %v", got)
	}
}

// methodsOf reads methods without their descriptions.
func methodsOf(t *testing.T, text []byte) []map[string]any {
	t.Helper()
	var methods []map[string]any
	if err := json.Unmarshal(text, &methods); err != nil {
		t.Fatal(err)
	}
	for _, m := range methods {
		m["description"] = "…"
	}
	return methods
}
