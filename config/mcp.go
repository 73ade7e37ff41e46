package config

import (
	"fmt"
	"net/url"
	"strings"

	"acp-agent/internal/redact"
	"acp-agent/internal/strictread"
	"acp-agent/permissions"
)

// MCP configures MCP servers (R88).
type MCP struct {
	// Servers are the servers by their names.
	Servers map[string]MCPServer `json:"servers"`
	// Tokens says where the tokens of sign-ins are kept: TokensKeyring or
	// TokensFile; empty means the keyring where it works, else a file.
	Tokens string `json:"tokens"`
	// Sandbox with false runs the programs of the editor's servers outside of the sandbox,
	// and those of the user's own that do not say otherwise.
	Sandbox *bool `json:"sandbox"`
	// Network is MCPNetworkOpen or MCPNetworkAsk for the programs of servers whose entries do not
	// say; empty means that the project's are asked about, and the others have the whole network.
	Network string `json:"network"`
}

// projectMCP is what a project may name.
type projectMCP struct {
	Servers map[string]MCPServer `json:"servers"`
}

// The places of tokens.
const (
	TokensKeyring = "keyring"
	TokensFile    = "file"
)

// The types of MCP servers.
const (
	MCPLocal  = "local"  // a program that is started
	MCPRemote = "remote" // an address
)

// MCPServer is an MCP server.
type MCPServer struct {
	// Type is MCPLocal or MCPRemote; empty means what the other fields say.
	Type string `json:"type"`
	// Command is the program of a local server and its arguments; Env are variables beside
	// the short environment of programs.
	Command []string          `json:"command"`
	Env     map[string]Secret `json:"env"`
	// URL is the address of a remote server, Headers what is sent to it. SSE means the older
	// transport of two streams.
	URL     string            `json:"url"`
	Headers map[string]Secret `json:"headers"`
	SSE     bool              `json:"sse"`
	// OAuth says as which client the user signs in to a remote server; false turns that off.
	OAuth MCPOAuth `json:"oauth"`
	// Enabled turns a server off; left out, it is on.
	Enabled *bool `json:"enabled"`
	// TimeoutMS is how long a call may go without progress, in milliseconds; 0 means 30 s.
	TimeoutMS int `json:"timeout_ms"`
	// Roots with false keeps the session's directories from the server; left out, it is told.
	Roots *bool `json:"roots"`
	// Sandbox with false runs a local server outside of the sandbox; left out, MCP.Sandbox
	// decides. Only the user's own file has it (T3).
	Sandbox *bool `json:"sandbox"`
	// Network is what a local server reaches; the zero value leaves that to MCP.Network. Only the
	// user's own file has it (T3).
	Network MCPNetwork `json:"network"`
	// Trust is MCPAsk or MCPAllow; empty means MCPAsk. Only the user's own file has it
	// (R92).
	Trust string `json:"trust"`
	// TrustAt is the file, line and column of Trust, for people.
	TrustAt string `json:"-"`
}

// MCPNetwork is what the program of a server reaches: a text or a list.
type MCPNetwork struct {
	// Access is MCPNetworkOpen or MCPNetworkAsk; empty for a list.
	Access string
	// Hosts is the list of the hosts that it may connect to, as rules name them
	// (permissions.HostPattern); nil for a text.
	Hosts []string
}

// What Access says of the network.
const (
	MCPNetworkOpen = "open" // the program has all of it
	MCPNetworkAsk  = "ask"  // the user is asked about each host
)

// parts implements textOrList.
func (n *MCPNetwork) parts() (text *string, list *[]string) { return &n.Access, &n.Hosts }

func (n MCPNetwork) zero() bool { return n.Access == "" && n.Hosts == nil }

// AsksHosts reports whether the user is asked about each host that the program of a server of
// the user's own reaches for.
func (m MCP) AsksHosts(s MCPServer) bool {
	if s.Network.zero() {
		return m.Network == MCPNetworkAsk
	}
	return s.Network.Access == MCPNetworkAsk
}

// OthersAskHosts reports the same of the servers of the editor, and of those of the project.
func (m MCP) OthersAskHosts() (editor, project bool) {
	return m.Network == MCPNetworkAsk, m.Network != MCPNetworkOpen
}

// What Trust says of the calls of a server.
const (
	MCPAsk   = "ask"   // they are asked about unless a rule or an answer allows them
	MCPAllow = "allow" // they are not asked about
)

// MCPOAuth is the agent as it was registered with a server by hand. Without an id it
// registers itself.
type MCPOAuth struct {
	// Off says that no one signs in.
	Off bool `json:"-"`
	// ClientID and ClientSecret are what the registration gave.
	ClientID     string `json:"client_id"`
	ClientSecret Secret `json:"client_secret"`
	// Issuer is the authorization server that knows the client; empty means whichever the
	// server names.
	Issuer string `json:"issuer"`
	// Scopes are what is asked for; empty means what the server says.
	Scopes []string `json:"scopes"`
}

// turn implements switchable.
func (o *MCPOAuth) turn(on bool) { o.Off = !on }

func (o MCPOAuth) zero() bool {
	return o.ClientID == "" && o.ClientSecret.IsZero() && o.Issuer == "" && len(o.Scopes) == 0
}

// Off reports whether the server is turned off.
func (s MCPServer) Off() bool { return s.Enabled != nil && !*s.Enabled }

// NoRoots reports whether the server is not told the session's directories.
func (s MCPServer) NoRoots() bool { return s.Roots != nil && !*s.Roots }

// Unconfined reports whether the program of a server of the user's own runs outside of
// the sandbox. A list of hosts, and questions about them, hold only within.
func (m MCP) Unconfined(s MCPServer) bool {
	if s.Sandbox == nil {
		return m.EditorUnconfined() && s.Network.Hosts == nil && s.Network.Access != MCPNetworkAsk
	}
	return !*s.Sandbox
}

// EditorUnconfined reports whether those of the editor's servers do.
func (m MCP) EditorUnconfined() bool { return m.Sandbox != nil && !*m.Sandbox }

func (f *file) checkMCP(servers map[string]MCPServer) error {
	for _, name := range sortedKeys(servers) {
		s, field := servers[name], strictread.Join("mcp.servers", name)
		switch {
		case strings.TrimSpace(name) == "":
			return f.errorf(field, "has no name")
		case s.Type != "" && s.Type != MCPLocal && s.Type != MCPRemote:
			return f.errorf(strictread.Join(field, "type"), "must be %q or %q, found %q", MCPLocal, MCPRemote, s.Type)
		case len(s.Command) > 0 && s.URL != "":
			return f.errorf(field, "has a command and a url; keep one")
		case s.Type == MCPLocal && s.URL != "", s.Type != MCPRemote && s.URL == "" && len(s.Command) == 0, len(s.Command) > 0 && s.Command[0] == "":
			return f.errorf(field, "expects a command, such as [\"npx\", \"-y\", \"a-server\"]")
		case s.Type == MCPRemote && s.URL == "":
			return f.errorf(field, "expects a url")
		case s.TimeoutMS < 0:
			return f.errorf(strictread.Join(field, "timeout_ms"), "must not be negative, found %d", s.TimeoutMS)
		}
		if err := checkMCPURL(s.URL); err != nil {
			return f.errorf(strictread.Join(field, "url"), "%w", err)
		}
		if err := f.problem(strictread.Join(field, "trust"), oneOf(s.Trust, "", MCPAsk, MCPAllow)); err != nil {
			return err
		}
		if s.Trust != "" {
			s.TrustAt = f.at(strictread.Join(field, "trust"))
			servers[name] = s
		}
		if err := f.checkMCPNetwork(strictread.Join(field, "network"), s); err != nil {
			return err
		}
		if err := f.checkMCPOAuth(strictread.Join(field, "oauth"), s); err != nil {
			return err
		}
	}
	return nil
}

func (f *file) checkMCPNetwork(field string, s MCPServer) error {
	switch {
	case s.Network.zero():
		return nil
	case s.URL != "":
		return f.errorf(field, "is for a server with a command")
	case s.Sandbox != nil && !*s.Sandbox && s.Network.Access != MCPNetworkOpen:
		return f.errorf(field, "holds in the sandbox alone; remove \"sandbox\": false, or this")
	case s.Network.Hosts == nil:
		return f.problem(field, oneOf(s.Network.Access, MCPNetworkOpen, MCPNetworkAsk))
	}
	return f.checkHosts(field, s.Network.Hosts)
}

// checkHosts gives hosts the form in which they are compared.
func (f *file) checkHosts(field string, hosts []string) error {
	for i, host := range hosts {
		pattern, err := permissions.HostPattern(host)
		if err != nil {
			return f.errorf(fmt.Sprintf("%s[%d]", field, i), "%w, found %q", err, host)
		}
		hosts[i] = pattern
	}
	return nil
}

func (f *file) checkMCPOAuth(field string, s MCPServer) error {
	o := s.OAuth
	issuer, err := url.Parse(o.Issuer)
	switch {
	case s.URL == "" && !o.zero():
		return f.errorf(field, "is for a server with a url")
	case o.ClientID == "" && (!o.ClientSecret.IsZero() || o.Issuer != ""):
		return f.errorf(field, "expects a client_id beside what belongs to it")
	case o.Issuer != "" && (err != nil || issuer.Host == "" || issuer.Scheme != "https" && issuer.Scheme != "http"):
		return f.errorf(strictread.Join(field, "issuer"), "must be an http or https address")
	}
	return nil
}

// checkOffered checks the servers of a project, which cannot say how far they are trusted
// and confined.
func (f *file) checkOffered(servers map[string]MCPServer) error {
	for _, name := range sortedKeys(servers) {
		s := servers[name]
		for field, set := range map[string]bool{"trust": s.Trust != "", "sandbox": s.Sandbox != nil, "network": !s.Network.zero()} {
			if set {
				return f.errorf(strictread.Join(strictread.Join("mcp.servers", name), field), "is not for a project to set; remove it here")
			}
		}
	}
	return f.checkMCP(servers)
}

func checkMCPURL(text string) error {
	if text == "" {
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("must be an http or https address")
	}
	return nil
}

// keys are the values that the server is given and others must not see: the
// variables and headers whose names say that they hold a key.
func (s MCPServer) keys() []string {
	var keys []string
	if !s.OAuth.ClientSecret.IsZero() {
		keys = append(keys, s.OAuth.ClientSecret.Reveal())
	}
	for _, values := range []map[string]Secret{s.Env, s.Headers} {
		for _, name := range sortedKeys(values) {
			if !redact.NamesKey(name) || values[name].IsZero() {
				continue
			}
			value := values[name].Reveal()
			keys = append(keys, value)
			if _, credentials, found := strings.Cut(value, " "); found {
				keys = append(keys, credentials)
			}
		}
	}
	return keys
}
