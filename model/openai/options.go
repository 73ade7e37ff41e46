package openai

import (
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"acp-agent/model/wire"
)

// DefaultBaseURL is where requests go when Options name no other server.
const DefaultBaseURL = "https://api.openai.com/v1"

// Options configure a Provider. Nothing else does: the environment is not read.
type Options struct {
	// BaseURL is the server's address, with its /v1; empty means DefaultBaseURL.
	// A query in it is sent with each request.
	BaseURL string
	// APIKey is sent as a bearer token; empty means that no Authorization
	// header is sent.
	APIKey string `json:"-"`
	// Headers are added to every request. Their values count as secrets.
	Headers map[string]string `json:"-"`
	// ExtraBody is added to the request of each step and replaces what would be
	// sent under the same name. It may not name model, messages, tools, stream.
	ExtraBody map[string]any
	// Window and Images say what is known of models, by id; they outrank
	// everything else that Describe finds.
	Window map[string]int
	Images map[string]bool
	// DefaultWindow is that of models of which nothing else is known; 0 means none.
	DefaultWindow int
	// Catalogue is the provider's name in the model catalogue; empty means that only
	// what holds at any server counts.
	Catalogue string
	// Thinking says how a thought level is sent; empty means Effort.
	Thinking Thinking
	// Levels are the thought levels of models for which the catalogue has none; nil means
	// that those models have none to choose.
	Levels []string
	// CacheControl are beginnings of the ids of models for which the server has to be
	// asked to cache prompts, by a cache_control at the top of the request (OpenRouter).
	CacheControl []string
	// ListedOnly says that the server takes calls of listed tools alone.
	ListedOnly bool
	// PromptCacheKey sends Request.CacheKey to servers other than OpenAI too.
	PromptCacheKey bool
	// IdleTimeout is how long the server may be silent within an answer; 0 means 6
	// minutes, and ten for local servers, which write a tool call in silence.
	IdleTimeout time.Duration
	// StartTimeout is how long it may be silent before the answer begins; 0
	// means IdleTimeout where that is set, else two minutes, but ten for local
	// servers, which read a long prompt in silence, and for models that reason out of sight.
	StartTimeout time.Duration
	// ContentTimeout is how long the server may bring no content although events come; 0
	// means ten minutes. A comment, by which a server says that it is busy, stretches that
	// up to KeepAliveTimeout; 0 means half an hour, and an hour for local servers.
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
func (o Options) String() string { return "openai.Options{" + o.BaseURL + "}" }

// GoString is String: %#v must not show the key either.
func (o Options) GoString() string { return o.String() }

// Provider is a model.Provider. It is safe for concurrent use.
type Provider struct {
	opts      Options
	base      *url.URL
	local     bool
	server    *wire.Server
	transport http.RoundTripper
	client    *client
	extra     []wire.Param

	mu      sync.Mutex // guards what follows
	dropped map[refusedParam]bool
	known   map[string]learned // from lists
	probed  map[string]learned // from probes
	blind   map[string]bool    // models that refused images
	rules   map[string]rules
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
	extra, err := wire.ExtraParams(opts.ExtraBody, "model", "messages", "tools", "stream")
	if err != nil {
		return nil, err
	}
	p := &Provider{
		opts: opts, base: base, local: wire.IsLocal(base.Hostname()), extra: extra,
		dropped: map[refusedParam]bool{}, known: map[string]learned{}, probed: map[string]learned{}, blind: map[string]bool{}, rules: map[string]rules{},
	}
	p.server = &wire.Server{
		Base: base, Local: p.local, Key: opts.APIKey, Headers: opts.Headers, Redact: opts.Clean,
		KeyHint:   "check OPENAI_API_KEY, or the key in the configuration",
		ModelHint: "choose a model that the server offers, with OPENAI_MODEL or in the configuration",
		PathHint:  "the base URL has no path; most servers want one that ends in /v1",
		Timeouts:  wire.Timeouts{Start: opts.StartTimeout, Idle: opts.IdleTimeout, Content: opts.ContentTimeout, KeepAlive: opts.KeepAliveTimeout},
		Logger:    opts.Logger,
	}
	p.transport = wire.NewTransport(opts.Transport, opts.Clean)
	p.client = p.newClient()
	return p, nil
}

// Close closes idle connections. Requests may still be made after it.
func (p *Provider) Close() {
	wire.CloseIdle(p.transport)
}

// String shows the server and no secrets.
func (p *Provider) String() string { return "openai.Provider{" + p.base.Redacted() + "}" }

// GoString is String: %#v must not show the key either.
func (p *Provider) GoString() string { return p.String() }

// Local reports whether the server is on this machine or this network.
func (p *Provider) Local() bool { return p.local }
