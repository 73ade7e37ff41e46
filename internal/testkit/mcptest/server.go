package mcptest

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Canary is in every token and secret that a Server gives, for tests that look for them.
const Canary = "canary-7f3a9c"

// Server is the MCP server, at /mcp and at /sse, and its authorization server. It is safe for
// concurrent use.
type Server struct {
	URL string
	// SSE is the same server over the older transport, which has no metadata of its own.
	SSE string

	http *httptest.Server

	mu      sync.Mutex            // guards what follows
	codes   map[string]url.Values // what was authorized, by code
	access  []string              // access tokens that are good
	refresh []string              // refresh tokens that are good
	knobs   Knobs
	counts  Counts
}

// Knobs are what a test changes about the server. The zero value is a server that behaves as it should.
type Knobs struct {
	// Life is how long a token lasts by its answer, in seconds; with 0 the answer does not say.
	Life int
	// NoRefresh refuses each refresh.
	NoRefresh bool
	// Issuer, Token and Authorize are addresses that its metadata give in place of its own.
	Issuer, Token, Authorize string
	// Denies has the user refuse the client.
	Denies bool
	// Useless refuses every token; Scope refuses every good token, because of its scope.
	Useless, Scope bool
	// Speaks adds a message of the protocol to a refusal.
	Speaks bool
	// NoRegister is what it answers to a client that wants to register, instead of taking it.
	NoRegister string
}

// Counts are what the server was asked.
type Counts struct{ Registered, Exchanged, Refreshed, Refused, Called int }

// Start starts a server, which ends with the test.
func Start(t testing.TB) *Server {
	s := &Server{codes: map[string]url.Values{}}
	mux := http.NewServeMux()
	mux.Handle("/mcp", s.guarded(sdk.NewStreamableHTTPHandler(s.greeter, &sdk.StreamableHTTPOptions{Stateless: true})))
	mux.Handle("/sse", s.guarded(sdk.NewSSEHandler(s.greeter, nil)))
	mux.HandleFunc("/.well-known/oauth-protected-resource/mcp", s.resource)
	mux.HandleFunc("/.well-known/oauth-authorization-server", s.metadata)
	mux.HandleFunc("POST /register", s.register)
	mux.HandleFunc("GET /authorize", s.authorize)
	mux.HandleFunc("POST /token", s.token)
	s.http = httptest.NewServer(mux)
	s.URL, s.SSE = s.http.URL+"/mcp", s.http.URL+"/sse"
	t.Cleanup(func() {
		s.http.CloseClientConnections()
		s.http.Close()
	})
	return s
}

// Change changes how the server behaves.
func (s *Server) Change(change func(*Knobs)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.knobs)
}

// Counts says what the server was asked so far.
func (s *Server) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts
}

// Expire ends the life of all access tokens; refresh tokens stay good.
func (s *Server) Expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.access = nil
}

// Browse opens an address as a browser does, and returns the status of the page at the end.
func (s *Server) Browse(ctx context.Context, address string) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, err
	}
	page, err := s.http.Client().Do(request)
	if err != nil {
		return 0, err
	}
	return page.StatusCode, page.Body.Close()
}

func (s *Server) greeter(*http.Request) *sdk.Server {
	server := sdk.NewServer(&sdk.Implementation{Name: "greeter", Version: "1"}, nil)
	sdk.AddTool(server, &sdk.Tool{Name: "greet", Description: "Greets."}, func(_ context.Context, call *sdk.CallToolRequest, _ map[string]any) (*sdk.CallToolResult, any, error) {
		s.mu.Lock()
		s.counts.Called++
		s.mu.Unlock()
		text := "hello"
		if call.Extra != nil { // a server may say anything, also what it was sent
			text += ", you sent " + call.Extra.Header.Get("Authorization")
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil, nil
	})
	return server
}

func (s *Server) guarded(to http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		s.mu.Lock()
		knobs := s.knobs
		known := slices.Contains(s.access, token)
		good := known && !knobs.Useless && !knobs.Scope
		if !good {
			s.counts.Refused++
		}
		s.mu.Unlock()
		if !good {
			status, challenge := http.StatusUnauthorized, `Bearer resource_metadata="`+s.http.URL+`/.well-known/oauth-protected-resource/mcp"`
			if knobs.Scope && known {
				status, challenge = http.StatusForbidden, challenge+`, error="insufficient_scope"`
			}
			w.Header().Set("WWW-Authenticate", challenge)
			w.WriteHeader(status)
			if knobs.Speaks {
				body, _ := io.ReadAll(r.Body)
				var asked struct{ ID json.RawMessage }
				_ = json.Unmarshal(body, &asked) // the id of what is not a request is none
				fmt.Fprintf(w, `{"jsonrpc": "2.0", "id": %s, "error": {"code": -32001, "message": "who are you?"}}`, cmp.Or(string(asked.ID), "null"))
			}
			return
		}
		to.ServeHTTP(w, r)
	})
}

func (s *Server) resource(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	issuer := s.http.URL
	if s.knobs.Issuer != "" {
		issuer = s.knobs.Issuer
	}
	answer(w, http.StatusOK, map[string]any{"resource": s.URL, "authorization_servers": []string{issuer}, "scopes_supported": []string{"greet"}})
}

func (s *Server) metadata(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := func(knob, path string) string {
		if knob != "" {
			return knob
		}
		return s.http.URL + path
	}
	answer(w, http.StatusOK, map[string]any{
		"issuer": s.http.URL, "authorization_endpoint": at(s.knobs.Authorize, "/authorize"), "token_endpoint": at(s.knobs.Token, "/token"),
		"registration_endpoint": s.http.URL + "/register", "response_types_supported": []string{"code"},
		"code_challenge_methods_supported": []string{"S256"},
	})
}

func (s *Server) register(w http.ResponseWriter, r *http.Request) {
	var client map[string]any
	if json.NewDecoder(r.Body).Decode(&client) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.knobs.NoRegister != "" {
		http.Error(w, s.knobs.NoRegister, http.StatusInternalServerError)
		return
	}
	s.counts.Registered++
	client["client_id"] = "client-" + rand.Text()
	answer(w, http.StatusCreated, client)
}

// serves reports whether a token can be for a resource.
func (s *Server) serves(resource string) bool { return resource == s.URL || resource == s.SSE }

func (s *Server) authorize(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	back, err := url.Parse(query.Get("redirect_uri"))
	if err != nil || query.Get("code_challenge_method") != "S256" || !s.serves(query.Get("resource")) || query.Get("client_id") == "" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	reply := url.Values{"state": {query.Get("state")}}
	if s.knobs.Denies {
		reply.Set("error", "access_denied")
	} else {
		code := Canary + rand.Text()
		s.codes[code] = query
		reply.Set("code", code)
	}
	back.RawQuery = reply.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	if r.ParseForm() != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	good := s.serves(r.Form.Get("resource"))
	switch r.Form.Get("grant_type") {
	case "authorization_code":
		s.counts.Exchanged++
		asked, known := s.codes[r.Form.Get("code")]
		delete(s.codes, r.Form.Get("code"))
		sum := sha256.Sum256([]byte(r.Form.Get("code_verifier")))
		good = good && known && asked.Get("code_challenge") == base64.RawURLEncoding.EncodeToString(sum[:]) &&
			asked.Get("redirect_uri") == r.Form.Get("redirect_uri")
	case "refresh_token":
		s.counts.Refreshed++
		at := slices.Index(s.refresh, r.Form.Get("refresh_token"))
		if good = good && at >= 0 && !s.knobs.NoRefresh; good {
			s.refresh = slices.Delete(s.refresh, at, at+1) // each is good once
		}
	default:
		good = false
	}
	if !good {
		answer(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant", "error_description": Canary})
		return
	}
	given := map[string]any{"access_token": Canary + "-access-" + rand.Text(), "refresh_token": Canary + "-refresh-" + rand.Text(), "token_type": "Bearer"}
	if s.knobs.Life > 0 {
		given["expires_in"] = s.knobs.Life
	}
	s.access, s.refresh = append(s.access, given["access_token"].(string)), append(s.refresh, given["refresh_token"].(string))
	answer(w, http.StatusOK, given)
}

func answer(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // it fails only when the client is gone
}
