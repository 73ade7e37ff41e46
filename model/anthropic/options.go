package anthropic

import (
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"acp-agent/model"
	"acp-agent/model/wire"
)

// DefaultBaseURL is where requests go when Options name no other server.
const DefaultBaseURL = "https://api.anthropic.com"

// Options configure a Provider. Nothing else does: the environment is not read.
type Options struct {
	// BaseURL is the server's address, with or without its /v1; empty means
	// DefaultBaseURL. A query in it is sent with each request.
	BaseURL string
	// APIKey is sent as x-api-key; empty means that the header is not sent.
	APIKey string `json:"-"`
	// Headers are added to every request. Their values count as secrets.
	Headers map[string]string `json:"-"`
	// ExtraBody is added to the request of each step and replaces what would be
	// sent under the same name. It may not name model, messages, system, tools, stream.
	ExtraBody map[string]any
	// Window and Images say what is known of models, by id; they outrank
	// everything else that Describe finds.
	Window map[string]int
	Images map[string]bool
	// IdleTimeout, StartTimeout, ContentTimeout and KeepAliveTimeout are those of
	// wire.Timeouts.
	IdleTimeout, StartTimeout        time.Duration
	ContentTimeout, KeepAliveTimeout time.Duration
	// Version stands in the User-Agent; empty means "dev".
	Version string
	// Transport carries the requests; nil means one that is made for it.
	Transport http.RoundTripper `json:"-"`
	// Clean is handed the body of each request before it is sent, to take out what
	// the model must not see, and what a server says of an error; nil leaves them as
	// they are.
	Clean func(text string) string `json:"-"`
	// Logger gets debug records without contents; nil means none.
	Logger *slog.Logger `json:"-"`
}

// String shows the server and no secrets.
func (o Options) String() string { return "anthropic.Options{" + o.BaseURL + "}" }

// GoString is String: %#v must not show the key either.
func (o Options) GoString() string { return o.String() }

// Provider is a model.Provider. It is safe for concurrent use.
type Provider struct {
	opts      Options
	server    *wire.Server
	transport http.RoundTripper
	extra     []wire.Param

	mu      sync.Mutex           // guards what follows
	known   map[string]abilities // what the server told of models
	blind   map[string]bool      // models that refused images
	dropped map[refused]bool
	limits  map[string]int // the most tokens of an answer, where the server named it
}

// New returns a Provider, or an error when the options make no sense. It does
// not touch the network.
func New(opts Options) (*Provider, error) {
	if opts.BaseURL == "" {
		opts.BaseURL = DefaultBaseURL
	}
	if opts.Version == "" {
		opts.Version = "dev"
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	base, err := wire.ParseBase(opts.BaseURL)
	if err != nil {
		return nil, err
	}
	extra, err := wire.ExtraParams(opts.ExtraBody, "model", "messages", "system", "tools", "stream")
	if err != nil {
		return nil, err
	}
	return &Provider{
		opts: opts, extra: extra,
		known: map[string]abilities{}, blind: map[string]bool{}, dropped: map[refused]bool{}, limits: map[string]int{},
		server: &wire.Server{
			Base: base, Local: wire.IsLocal(base.Hostname()), Key: opts.APIKey, Headers: opts.Headers, Redact: opts.Clean,
			KeyHint:   "check ANTHROPIC_API_KEY, or the key in the configuration",
			ModelHint: "choose a model that the server offers, with model.name in the configuration",
			Timeouts:  wire.Timeouts{Start: opts.StartTimeout, Idle: opts.IdleTimeout, Content: opts.ContentTimeout, KeepAlive: opts.KeepAliveTimeout},
			Logger:    opts.Logger,
		},
		transport: wire.NewTransport(opts.Transport, opts.Clean),
	}, nil
}

// Close closes idle connections. Requests may still be made after it.
func (p *Provider) Close() { wire.CloseIdle(p.transport) }

// String shows the server and no secrets.
func (p *Provider) String() string { return "anthropic.Provider{" + p.server.Base.Redacted() + "}" }

// GoString is String: %#v must not show the key either.
func (p *Provider) GoString() string { return p.String() }

// Local reports whether the server is on this machine or this network.
func (p *Provider) Local() bool { return p.server.Local }

// official reports whether the server is Anthropic itself.
func (p *Provider) official() bool { return p.server.Base.Hostname() == "api.anthropic.com" }

// origin names who writes an answer, see transcript.Message.
func (p *Provider) origin(id string) string {
	return "anthropic " + p.server.Base.Scheme + "://" + p.server.Base.Host + strings.TrimRight(p.server.Base.Path, "/") + " " + id
}

// address is where a path of the API is. The base may have its /v1, or the whole path of
// the messages, as some servers document it.
func (p *Provider) address(path string) *url.URL {
	target := *p.server.Base
	prefix := strings.TrimSuffix(strings.TrimRight(target.Path, "/"), "/messages")
	target.Path, target.RawPath = strings.TrimSuffix(prefix, "/v1")+"/v1/"+path, ""
	return &target
}

var _ model.Provider = (*Provider)(nil)
