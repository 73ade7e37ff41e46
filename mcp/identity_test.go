package mcp_test

import (
	"testing"

	"acp-agent/mcp"
)

// M1: what an answer is bound to is how a server is reached and who configured it, and not
// the values of what it is given. Of a name and its place in a list no other can be made.
func TestTools_Origin(t *testing.T) {
	base := mcp.Server{Name: "s", Origin: "the editor", Command: "x", Args: []string{"a", "b"}, Env: []string{"A=1", "B=2"}}
	at := mcp.Server{Name: "s", URL: "http://127.0.0.1:1/?key=abcdef", Header: map[string]string{"Authorization": "x"}}
	with := func(from mcp.Server, edit func(*mcp.Server)) mcp.Server {
		edit(&from)
		return from
	}
	tests := []struct {
		name   string
		a, b   mcp.Server
		differ bool
	}{
		{"the values of variables", base, with(base, func(s *mcp.Server) { s.Env = []string{"B=3", "A=4"} }), false},
		{"the value of a header", at, with(at, func(s *mcp.Server) { s.Header = map[string]string{"Authorization": "y"} }), false},
		{"how long a call may take", base, with(base, func(s *mcp.Server) { s.Timeout = 1 }), false},
		{"what it is told of the session", base, with(base, func(s *mcp.Server) { s.NoRoots = true }), false},
		{"the command", base, with(base, func(s *mcp.Server) { s.Command = "y" }), true},
		{"an argument more", base, with(base, func(s *mcp.Server) { s.Args = []string{"a", "b", ""} }), true},
		{"arguments in one", base, with(base, func(s *mcp.Server) { s.Args = []string{"a b"} }), true},
		{"a command that ends with its argument", base, with(base, func(s *mcp.Server) { s.Command, s.Args = "xa", []string{"b"} }), true},
		{"a variable more", base, with(base, func(s *mcp.Server) { s.Env = append([]string{"LD_PRELOAD=x"}, s.Env...) }), true},
		{"who configured it", base, with(base, func(s *mcp.Server) { s.Origin = "the project" }), true},
		{"the address", at, with(at, func(s *mcp.Server) { s.URL += "2" }), true},
		{"the name of a header", at, with(at, func(s *mcp.Server) { s.Header = map[string]string{"X-Key": "x"} }), true},
		{"the transport", at, with(at, func(s *mcp.Server) { s.SSE = true }), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, b := tt.a.Provenance(), tt.b.Provenance()
			if a.Digest == "" || (a.Digest != b.Digest) != tt.differ {
				t.Errorf("differ: %v, want %v", a.Digest != b.Digest, tt.differ)
			}
		})
	}
	if place := at.Provenance().Place; place != "http 127.0.0.1:1" {
		t.Errorf("people are shown %q", place)
	}
}
