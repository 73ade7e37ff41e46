package mcp

import (
	"maps"
	"net/url"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"acp-agent/mcp/oauth"
	"acp-agent/tools"
)

// Server says how an MCP server is reached: by a program that is started, or by an address.
type Server struct {
	// Name is its name in the configuration; it may hold anything.
	Name string
	// Origin says where it is configured, in a few words.
	Origin string
	// Command is the program of a server that is spoken to over its standard streams, Args
	// what follows it. Env are NAME=value entries beside the short environment of programs.
	Command string
	Args    []string
	Env     []string
	// URL is the address of a server behind HTTP, used when there is no Command. Header is
	// sent to its origin and to no other. SSE means the older transport of two streams.
	URL    string
	Header map[string]string
	SSE    bool
	// Client is as which client the user signs in to the address by OAuth; the zero value
	// registers one. Anonymous turns that off, and so does an Authorization header.
	Client    oauth.Client
	Anonymous bool
	// Timeout is how long a call may go without progress; 0 means 30 s (M2).
	Timeout time.Duration
	// NoRoots says that the server is not told the session's directories. It changes nothing
	// of the server's identity: see Provenance.
	NoRoots bool
	// Unconfined says that the user lets its program run outside of the sandbox.
	Unconfined bool
	// Hosts are what its program may connect to, as rules name them. AsksHosts says that the user
	// is asked about every other host. Without either it has the whole network.
	Hosts     []string
	AsksHosts bool
	// UntrustedName says that the rules of the user's configuration do not mean this server by
	// its name; see tools.Origin. Project says that the project names it. Apart says that
	// its program does not start in the project, which the user does not trust.
	UntrustedName, Project, Apart bool
}

// ID is what stands for a server's name in the ids of its tools and in rules (R89).
func ID(name string) string { return serverID(name) }

// Transport is "stdio", "http" or "sse".
func (s *Server) Transport() string {
	switch {
	case s.Command != "":
		return "stdio"
	case s.SSE:
		return "sse"
	}
	return "http"
}

// Place is the program's name or the host, for people: neither arguments nor the rest of
// the address, for keys are written there.
func (s *Server) Place() string {
	if s.Command != "" {
		return filepath.Base(s.Command)
	}
	if u, err := url.Parse(s.URL); err == nil && u.Host != "" {
		return u.Host
	}
	return "?"
}

// Has reports whether an id is one that a tool of the server could have.
func (s *Server) Has(id string) bool {
	tool, ok := strings.CutPrefix(id, idPrefix+serverID(s.Name)+"__")
	return ok && tool != "" && plain(id) == id && len(id) <= maxID
}

// Provenance is what an answer about one of the server's tools is bound to (M1): where it is
// configured, how it is reached, and the names of the variables and headers that it is
// given. The directory is the session's, for which alone an answer is kept.
func (s *Server) Provenance() tools.Origin {
	var variables []string
	for _, variable := range s.Env {
		name, _, _ := strings.Cut(variable, "=")
		variables = append(variables, name)
	}
	slices.Sort(variables)
	parts := []string{
		s.Origin, s.Transport(), s.Command, tools.DigestOf(s.Args...), tools.DigestOf(variables...),
		s.URL, tools.DigestOf(slices.Sorted(maps.Keys(s.Header))...),
	}
	if s.Hosts != nil { // else what was answered before there were lists stays bound
		parts = append(parts, tools.DigestOf(slices.Sorted(slices.Values(s.Hosts))...))
	}
	if s.AsksHosts {
		parts = append(parts, "asks about hosts")
	}
	digest := tools.DigestOf(parts...)
	return tools.Origin{Digest: digest, Place: s.Transport() + " " + s.Place(), Remote: s.Command == "", UntrustedName: s.UntrustedName}
}

func (s *Server) same(other *Server) bool { return reflect.DeepEqual(s, other) }

// State is how a server stands.
type State string

// The states of a server.
const (
	Connecting State = "connecting"
	Ready      State = "ready"
	// Failed servers are tried again, but for one whose name is taken.
	Failed State = "failed"
	Closed State = "closed"
	// SignIn servers wait for a user to sign in, and are not tried again before that.
	SignIn State = "sign-in"
)

// Status is a server at one moment, as people are told of it.
type Status struct {
	Name, Origin, Transport, Place string
	// Unconfined says that its program runs outside of the sandbox.
	Unconfined bool
	// Hosts and AsksHosts say what its program may connect to; see Server.
	Hosts     []string
	AsksHosts bool
	// Notes say how the network stands for it, and what was closed to it.
	Notes []string
	// ID stands for the name in the ids of tools and in rules.
	ID    string
	State State
	// Tools are the tools that the server has, or had when it was last there.
	Tools []Name
	// Prompts are its prompts, and Resources and Templates what it lists to be read.
	Prompts              []Prompt
	Resources, Templates []Resource
	// Dropped is what of all that cannot be used, each with the reason.
	Dropped []Dropped
	// Problem is the last error; "" when there was none. It outlives the state, so that a
	// server that comes and goes can be told.
	Problem string
	// Ignored counts the lines on its output that were no messages.
	Ignored int
}

// Name is a tool by its id and by what its server calls it (R89).
type Name struct{ ID, Tool string }

// Dropped is something of a server that cannot be used. Kind is "tool", "prompt" or
// "resource".
type Dropped struct{ Kind, Name, Reason string }
