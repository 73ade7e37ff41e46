package openai_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"acp-agent/internal/testkit/modeltest"
	"acp-agent/model"
	"acp-agent/model/openai"
)

func failure(t *testing.T, p model.Provider) *model.Error {
	t.Helper()
	a, err := ask(t.Context(), t, p, request())
	var e *model.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %+v and %v", a, err)
	}
	return e
}

func TestErrors_Status(t *testing.T) {
	tests := []struct {
		name   string
		status int
		header map[string]string
		body   string
		kind   model.ErrorKind
		after  time.Duration
		want   string // in the message and hint
	}{
		{"429", 429, nil, `{"error":{"message":"Rate limit","type":"requests","code":"rate_limit_exceeded"}}`, model.Transient, 0, "429 Too Many Requests: Rate limit"},
		{"429 seconds", 429, map[string]string{"Retry-After": "7"}, ``, model.Transient, 7 * time.Second, "429"},
		{"429 fraction", 429, map[string]string{"Retry-After": "0.5"}, ``, model.Transient, 500 * time.Millisecond, "429"},
		{"429 milliseconds", 429, map[string]string{"Retry-After": "7", "Retry-After-Ms": "250"}, ``, model.Transient, 250 * time.Millisecond, "429"},
		{"429 past date", 429, map[string]string{"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, ``, model.Transient, 0, "429"},
		{"429 nonsense", 429, map[string]string{"Retry-After": "soon"}, ``, model.Transient, 0, "429"},
		{"429 negative", 429, map[string]string{"Retry-After": "-5"}, ``, model.Transient, 0, "429"},
		{"429 NaN", 429, map[string]string{"Retry-After": "NaN"}, ``, model.Transient, 0, "429"},
		{"429 for ever", 429, map[string]string{"Retry-After": "1e300"}, ``, model.Transient, 24 * time.Hour, "429"},
		{"429 quota", 429, nil, `{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`, model.Auth, 0, "no credit left"},
		{"429 too large", 429, nil, `{"error":{"message":"Request too large for gpt-4o on tokens per min: Limit 30000, Requested 40000","code":"rate_limit_exceeded"}}`, model.Overflow, 0, "too large"},
		{"400 window", 400, nil, `{"error":{"message":"x","code":"context_length_exceeded"}}`, model.Overflow, 0, "400"},
		{"400 window, llama.cpp", 400, nil, `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_ctx":4096}}`, model.Overflow, 0, ""},
		{"400 window, vLLM", 400, nil, `{"object":"error","message":"This model's maximum context length is 8192 tokens.","type":"BadRequestError","param":null,"code":400}`, model.Overflow, 0, ""},
		{"400 window, Anthropic", 400, nil, `{"error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`, model.Overflow, 0, ""},
		{"400 window, Gemini", 400, nil, `[{"error":{"code":400,"message":"The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]`, model.Overflow, 0, ""},
		{"500 window", 500, nil, `{"error":{"message":"context size exceeded"}}`, model.Overflow, 0, ""},
		{"413", 413, nil, ``, model.Overflow, 0, "413"},
		{"400", 400, nil, `{"error":{"message":"bad","type":"invalid_request_error"}}`, model.Invalid, 0, "400 Bad Request: bad"},
		{"400 no tools", 400, nil, `{"error":{"message":"registry.example.com/library/gemma:2b does not support tools"}}`, model.Invalid, 0, "choose a model that can call tools"},
		{"401", 401, nil, `{"error":{"message":"Incorrect API key provided: sk-abcde***wxyz1234."}}`, model.Auth, 0, "OPENAI_API_KEY"},
		{"402", 402, nil, `{"error":{"message":"Insufficient credits"}}`, model.Auth, 0, "no credit left"},
		{"403", 403, nil, `{"error":"forbidden"}`, model.Auth, 0, "403 Forbidden: forbidden"},
		{"404 model", 404, nil, `{"error":{"message":"The model 'x' does not exist","code":"model_not_found"}}`, model.Invalid, 0, "choose a model that the server offers"},
		{"404 path", 404, nil, `404 page not found`, model.Invalid, 0, "check the base URL"},
		{"408", 408, nil, ``, model.Transient, 0, "408"},
		{"409", 409, nil, ``, model.Transient, 0, "409"},
		{"425", 425, nil, ``, model.Transient, 0, "425"},
		{"422", 422, nil, `{"detail":[{"loc":["body","x"],"msg":"bad"}]}`, model.Invalid, 0, `"msg":"bad"`},
		{"500", 500, nil, `oops`, model.Transient, 0, "500 Internal Server Error: oops"},
		{"501", 501, nil, ``, model.Invalid, 0, "501"},
		{"502 page", 502, nil, "<html><head><title>502 Bad\nGateway</title></head><body>x</body></html>", model.Transient, 0, "a web page, titled 502 bad gateway"},
		{"503", 503, map[string]string{"Retry-After": "1"}, ``, model.Transient, time.Second, "503"},
		{"504", 504, nil, ``, model.Transient, 0, "504"},
		{"529", 529, nil, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, model.Transient, 0, "Overloaded"},
		{"metadata", 503, nil, `{"error":{"message":"Provider returned error","code":503,"metadata":{"raw":"upstream is down"}}}`, model.Transient, 0, "Provider returned error: upstream is down"},
		{"control characters", 500, nil, "{\"message\":\"a\\u001b[31m\\nb\\u202e\"}", model.Transient, 0, "a[31m b"},
		{"long", 500, nil, strings.Repeat("x", 1<<20), model.Transient, 0, "xxx …"},
		{"304", 304, nil, ``, model.Invalid, 0, "304"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := modeltest.New(t, modeltest.Step{Status: tt.status, Header: tt.header, Body: tt.body})
			e := failure(t, provider(t, s))
			if e.Kind != tt.kind || e.RetryAfter != tt.after || e.Status != tt.status || e.Interrupted {
				t.Errorf("got %+v", e)
			}
			text := e.Error()
			if !strings.Contains(text, tt.want) || strings.ContainsAny(text, "\n\x1b") || len(text) > 1000 || strings.Contains(text, "sk-abcde") {
				t.Errorf("got %q, want %q in it", text, tt.want)
			}
			if n := len(s.Requests()); n != 1 {
				t.Errorf("%d requests were made", n)
			}
		})
	}
}

func TestErrors_RetryAfterDate(t *testing.T) {
	at := time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)
	s := modeltest.New(t, modeltest.Step{Status: 503, Header: map[string]string{"Retry-After": at}})
	if e := failure(t, provider(t, s)); e.RetryAfter < 50*time.Minute || e.RetryAfter > time.Hour {
		t.Errorf("got %v", e.RetryAfter)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestErrors_Connection(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refused := "http://" + listener.Addr().String() + "/v1"
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	plain := modeltest.New(t)

	dns := roundTrip(func(*http.Request) (*http.Response, error) {
		return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "x", IsNotFound: true}}
	})
	slow := roundTrip(func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	})
	tests := []struct {
		name      string
		base      string
		transport http.RoundTripper
		want      string
	}{
		{"refused", refused, nil, "nothing listens at 127.0.0.1:"},
		{"host not found", "http://model.invalid/v1", dns, `the host "model.invalid" was not found`},
		{"certificate", secure.URL, nil, "the server's certificate was not accepted"},
		{"no TLS", strings.Replace(plain.URL, "http:", "https:", 1), nil, "it does not speak TLS"},
		{"handshake", secure.URL, &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS10}}, "no answer from the model server: "}, //nolint:gosec // it is to fail
		{"silence", "http://model.invalid/v1", slow, "does not answer"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			// Only silence may end by the clock; a handshake takes long on a busy machine.
			timeout := time.Minute
			if tt.name == "silence" {
				timeout = 200 * time.Millisecond
			}
			p, err := openai.New(openai.Options{BaseURL: tt.base + "?key=" + canary, APIKey: canary, Transport: tt.transport, StartTimeout: timeout})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(p.Close)
			e := failure(t, p)
			if e.Kind != model.Transient || e.Status != 0 || !strings.Contains(e.Error(), tt.want) {
				t.Errorf("got %+v: %v", e, e)
			}
			for err := error(e); err != nil; err = errors.Unwrap(err) {
				if strings.Contains(fmt.Sprintf("%v %+v", err, err), canary) {
					t.Errorf("the key is in %v", err)
				}
			}
		})
	}
}

// The key must not be read in anything that is shown, and goes to the
// configured host only (SECURITY T3, D3).
func TestSecrets(t *testing.T) {
	const header = "secret-header-value"
	var logged bytes.Buffer
	s := modeltest.New(t,
		modeltest.Step{Status: 400, Body: `{"error":{"message":"key ` + canary + ` header ` + header + ` Bearer abcdefgh12345 api_key=abcdefgh"}}`},
		modeltest.Step{Text: "a"},
	)
	p := provider(t, s, func(o *openai.Options) {
		o.Headers = map[string]string{"X-Api-Key": header}
		o.Logger = slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	e := failure(t, p)
	if _, err := ask(t.Context(), t, p, request()); err != nil {
		t.Fatal(err)
	}
	opts := openai.Options{APIKey: canary, Headers: map[string]string{"X-Api-Key": header}}
	shown := fmt.Sprintf("%v %+v %#v %s %v %v %+v %#v %s", p, p, p, e, e.Err, opts, opts, opts, logged.String())
	for _, secret := range []string{canary, header, "abcdefgh"} {
		if strings.Contains(shown, secret) {
			t.Errorf("%s is in %s", secret, shown)
		}
	}
	if !strings.Contains(logged.String(), "model server answers") {
		t.Error("nothing was logged")
	}
	for _, r := range s.Requests() {
		if r.Header.Get("Authorization") != "Bearer "+canary || r.Header.Get("X-Api-Key") != header {
			t.Errorf("headers %v", r.Header)
		}
	}
}

func TestRedirect(t *testing.T) {
	other := modeltest.New(t, modeltest.Step{Text: "from the other", Repeat: -1})
	target := other.URL + "/chat/completions?secret=1"
	for _, status := range []int{301, 302, 303, 307, 308} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			s := modeltest.New(t, modeltest.Step{Status: status, Header: map[string]string{"Location": target}})
			e := failure(t, provider(t, s))
			if e.Kind != model.Invalid || e.Status != status || !strings.Contains(e.Message, "redirects to another host") || strings.Contains(e.Error(), "secret") {
				t.Errorf("got %+v", e)
			}
		})
	}
	if n := len(other.Requests()); n != 0 {
		t.Errorf("the other host got %d requests", n)
	}

	s := modeltest.New(t,
		modeltest.Step{Status: 307, Header: map[string]string{"Location": "/v2/chat/completions"}}, modeltest.Step{Text: "moved"},
		modeltest.Step{Status: 302, Header: map[string]string{"Location": "/v2/chat/completions"}},
		modeltest.Step{Status: 307, Header: map[string]string{"Location": "/v2/chat/completions"}, Repeat: -1},
	)
	p := provider(t, s)
	if a, err := ask(t.Context(), t, p, request()); err != nil || a.Text != "moved" {
		t.Errorf("within the host: %+v and %v", a, err)
	}
	for _, want := range []string{"redirects /v1/chat/completions to /v2/chat/completions", "too many redirects"} {
		if e := failure(t, p); !strings.Contains(e.Message, want) {
			t.Errorf("got %v, want %q", e, want)
		}
	}
}

// A cancelled retry-less request gives the context's error, not one of ours.
func TestErrors_ContextWins(t *testing.T) {
	s := modeltest.New(t, modeltest.Step{Stall: -1})
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("cancelled by the user"))
	if _, err := ask(ctx, t, provider(t, s), request()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
