package wire

import (
	"log/slog"
	"net/http"
	"net/url"
)

// Server is a model server as its requests and errors need it. It does not change once it
// is in use.
type Server struct {
	// Base is the address, Local whether it is on this machine or this network.
	Base  *url.URL
	Local bool
	// Key and the values of Headers are taken out of all that the server says.
	Key     string
	Headers map[string]string
	// Redact takes out what else must not be shown; nil leaves texts as they are.
	Redact func(text string) string
	// KeyHint, ModelHint and PathHint say what to do about a key that is refused, a model
	// that does not exist, and an address without a path.
	KeyHint, ModelHint, PathHint string
	Timeouts                     Timeouts
	Logger                       *slog.Logger
}

// NewTransport returns a transport over carrier, or over a Carrier of its own. It takes out of each
// body what the model must not see, and repeats a request that met a closed connection.
func NewTransport(carrier http.RoundTripper, redact func(string) string) http.RoundTripper {
	if carrier == nil {
		carrier = Carrier()
	}
	carrier = repeating{carrier}
	if redact != nil {
		carrier = cleaning{carrier, redact}
	}
	return carrier
}

// CloseIdle closes the idle connections of a transport.
func CloseIdle(carrier http.RoundTripper) {
	if t, ok := carrier.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}
