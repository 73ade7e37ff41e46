package oauth

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// callbackPath is where the browser comes back to.
const callbackPath = "/callback"

// callback listens on this machine for the answer that the browser brings. It takes one.
type callback struct {
	listener net.Listener
	server   *http.Server
	ended    chan struct{} // closed when no one serves any more
	answers  chan url.Values

	mu    sync.Mutex
	state string // the secret of the request that is waited for; "" for none
}

// listen starts a listener on a free port of this machine alone.
func listen(ctx context.Context) (*callback, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("the answer of the browser cannot be waited for: %w", err)
	}
	c := &callback{listener: listener, ended: make(chan struct{}), answers: make(chan url.Values, 1)}
	c.server = &http.Server{Handler: c, ReadHeaderTimeout: 5 * time.Second, MaxHeaderBytes: 64 << 10}
	go func() { // ends with close
		defer close(c.ended)
		_ = c.server.Serve(listener) // that it was closed
	}()
	return c, nil
}

// address is what the browser is sent back to.
func (c *callback) address() string { return "http://" + c.listener.Addr().String() + callbackPath }

// ServeHTTP takes the answer to the request with our state, once. Whatever else asks here,
// such as a page that guesses the port, learns nothing and changes nothing.
func (c *callback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Type", "text/plain; charset=utf-8")
	header.Set("Cache-Control", "no-store")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Content-Type-Options", "nosniff")
	query := r.URL.Query()
	if r.Method != http.MethodGet || r.URL.Path != callbackPath || r.Host != c.listener.Addr().String() || !c.claim(query.Get("state")) {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintln(w, "This is not the sign-in that acp-agent waits for.")
		return
	}
	c.answers <- query // there is one claim, and room for it
	fmt.Fprintln(w, "acp-agent has the answer. You can close this page.")
}

// expect says which state the answer has to bring.
func (c *callback) expect(state string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state = state
}

// claim reports whether a state is the one that is waited for, once. A guess
// meanwhile is not in the way.
func (c *callback) claim(state string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == "" || subtle.ConstantTimeCompare([]byte(c.state), []byte(state)) != 1 {
		return false
	}
	c.state = ""
	return true
}

// close ends the listener; an answer under way is finished first.
func (c *callback) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := c.server.Shutdown(ctx); err != nil {
		_ = c.server.Close()
	}
	<-c.ended
}

// errNoCode is the answer of a browser without a code and without an error.
var errNoCode = errors.New("the browser came back without a code")
