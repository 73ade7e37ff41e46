package openai_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"acp-agent/internal/testkit/modeltest"
	"acp-agent/model"
	"acp-agent/model/openai"
)

func TestModels(t *testing.T) {
	tests := []struct {
		name, body string
		want       []model.Info
	}{
		{
			"OpenAI", `{"object":"list","data":[{"id":"gpt-4o","object":"model"},{"id":"a-model"},{"id":"text-embedding-3-small"}]}`,
			[]model.Info{{ID: "a-model"}, {ID: "gpt-4o", Images: model.Yes}},
		},
		{
			"OpenRouter", `{"data":[{"id":"x/y","name":"X: Y","context_length":1000,"architecture":{"input_modalities":["text","image"]},"top_provider":{"context_length":900,"max_completion_tokens":100}}]}`,
			[]model.Info{{ID: "x/y", Name: "X: Y", Window: 900, MaxOutput: 100, Images: model.Yes}},
		},
		{"vLLM", `{"data":[{"id":"m","max_model_len":8192}]}`, []model.Info{{ID: "m", Window: 8192}}},
		{"llama.cpp", `{"models":[{"name":"m","capabilities":["completion"]}],"data":[{"id":"m","meta":{"n_ctx":8192,"n_ctx_train":32768}}]}`, []model.Info{{ID: "m", Window: 8192}}},
		{"llama.cpp, older", `{"data":[{"id":"m","meta":{"n_ctx_train":32768}}]}`, []model.Info{{ID: "m"}}},
		{"Mistral", `{"data":[{"id":"m","max_context_length":131072,"capabilities":{"vision":true}}]}`, []model.Info{{ID: "m", Window: 131072, Images: model.Yes}}},
		{"Mistral, no images", `{"data":[{"id":"m","capabilities":{"vision":false}}]}`, []model.Info{{ID: "m", Images: model.No}}},
		{"OpenRouter, no images", `{"data":[{"id":"m","architecture":{"input_modalities":["text"]}}]}`, []model.Info{{ID: "m", Images: model.No}}},
		{"bare list", ` [{"id":"m","display_name":"M","context_length":10,"type":"chat"}]`, []model.Info{{ID: "m", Name: "M", Window: 10}}},
		{"twice", `{"data":[{"id":"m"},{"id":"m"}]}`, []model.Info{{ID: "m"}}},
		{"odd", `{"data":[{"id":7,"context_length":"big"},{},{"id":null}]}`, []model.Info{{ID: "7"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := modeltest.New(t)
			s.HandleJSON("/v1/models", tt.body)
			p := provider(t, s)
			got, err := p.Models(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Error("(-want +got)\n", diff)
			}
			for _, want := range tt.want {
				if diff := cmp.Diff(want, p.Describe(t.Context(), want.ID), cmpopts.EquateEmpty()); diff != "" {
					t.Error("described (-want +got)\n", diff)
				}
			}
		})
	}
}

func TestModels_Errors(t *testing.T) {
	s := modeltest.New(t)
	p := provider(t, s)
	status := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}
	}
	for _, tt := range []struct {
		handler http.HandlerFunc
		kind    model.ErrorKind
	}{
		{status(401, ""), model.Auth},
		{status(404, "404 page not found"), model.Invalid},
		{status(503, ""), model.Transient},
		{status(200, "<html>"), model.Invalid},
	} {
		s.Handle("/v1/models", tt.handler)
		infos, err := p.Models(t.Context())
		var e *model.Error
		if !errors.As(err, &e) || e.Kind != tt.kind {
			t.Errorf("got %v and %v", infos, err)
		}
	}
}

func TestDescribe(t *testing.T) {
	remote := func(change func(*openai.Options)) *openai.Provider {
		opts := openai.Options{BaseURL: "https://models.example/v1"}
		if change != nil {
			change(&opts)
		}
		p, err := openai.New(opts)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	configured := func(o *openai.Options) {
		o.Window, o.Images = map[string]int{"gpt-4o": 5, "mine": 7}, map[string]bool{"gpt-4o": false, "mine": true}
	}
	local := func(o *openai.Options) { o.BaseURL = "http://192.168.1.5:1234/v1" }
	low := []string{"low", "medium", "high"}
	tests := []struct {
		name string
		p    *openai.Provider
		want model.Info
	}{
		{"known", remote(nil), model.Info{ID: "gpt-4o-mini", Window: 128_000, MaxOutput: 16_384, Images: model.Yes}},
		{"longest name first", remote(nil), model.Info{ID: "gpt-4.1-nano", Window: 1_047_576, MaxOutput: 32_768, Images: model.Yes}},
		{"reasons", remote(nil), model.Info{ID: "o3-mini", Window: 200_000, MaxOutput: 100_000, ThoughtLevels: low}},
		{"reasons little", remote(nil), model.Info{ID: "GPT-5-mini", Window: 400_000, MaxOutput: 128_000, Images: model.Yes, ThoughtLevels: append([]string{"minimal"}, low...)}},
		{"after an owner", remote(nil), model.Info{ID: "anthropic/claude-sonnet-4", Window: 200_000, Images: model.Yes}},
		{"unknown", remote(nil), model.Info{ID: "mystery"}},
		{"configured", remote(configured), model.Info{ID: "gpt-4o", Window: 5, MaxOutput: 16_384, Images: model.No}},
		{"configured and unknown", remote(configured), model.Info{ID: "mine", Window: 7, Images: model.Yes}},
		{"local: no window is guessed", remote(local), model.Info{ID: "gpt-oss:20b", ThoughtLevels: low}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, tt.p.Describe(t.Context(), tt.want.ID), cmpopts.EquateEmpty()); diff != "" {
				t.Error("(-want +got)\n", diff)
			}
		})
	}
}

func TestProbe(t *testing.T) {
	tests := []struct {
		name    string
		routes  map[string]string
		server  string
		window  int
		images  model.Answer
		warning string // in one of the warnings; empty for none at all
	}{
		{"Ollama, loaded", map[string]string{
			"/api/show": `{"model_info":{"llama.context_length":131072},"capabilities":["completion","tools","vision"]}`,
			"/api/ps":   `{"models":[{"name":"other"},{"name":"m:latest","context_length":32768}]}`,
		}, "ollama", 32768, model.Yes, ""},
		{"Ollama, num_ctx", map[string]string{"/api/show": `{"model_info":{},"parameters":"stop  \"x\"\nnum_ctx    16384"}`}, "ollama", 16384, model.Unknown, ""},
		{"Ollama, by default", map[string]string{"/api/show": `{"model_info":{"llama.context_length":131072}}`}, "ollama", 4096, model.Unknown, "OLLAMA_CONTEXT_LENGTH"},
		{"Ollama, no tools", map[string]string{"/api/show": `{"model_info":{},"parameters":"num_ctx 16384","capabilities":["completion"]}`}, "ollama", 16384, model.No, "cannot call tools"},
		{"llama.cpp", map[string]string{"/props": `{"default_generation_settings":{"n_ctx":20000},"modalities":{"vision":true}}`}, "llama.cpp", 20000, model.Yes, ""},
		{"llama.cpp, no images", map[string]string{"/props": `{"default_generation_settings":{"n_ctx":20000},"modalities":{"vision":false}}`}, "llama.cpp", 20000, model.No, ""},
		{"llama.cpp, which answers Ollama's question", map[string]string{
			"/props":    `{"default_generation_settings":{"n_ctx":8192},"total_slots":1,"modalities":{"vision":false,"audio":false}}`,
			"/api/show": `{"template":"","model_info":{"llama.context_length":8192},"modelfile":"","parameters":"","details":{"parent_model":"","format":"gguf","family":"","families":[""],"parameter_size":"","quantization_level":""},"capabilities":["completion"]}`,
		}, "llama.cpp", 8192, model.No, "the window of m is only 8192 tokens; an agent needs 16,384 or more"},
		{"llama.cpp, small", map[string]string{"/props": `{"default_generation_settings":{"n_ctx":2048}}`}, "llama.cpp", 2048, model.Unknown, "only 2048 tokens"},
		{"LM Studio", map[string]string{"/api/v0/models": `{"data":[{"id":"x"},{"id":"m","type":"vlm","max_context_length":131072,"loaded_context_length":65536}]}`}, "lmstudio", 65536, model.Yes, ""},
		{"LM Studio, not loaded", map[string]string{"/api/v0/models": `{"data":[{"id":"m","type":"llm","max_context_length":131072}]}`}, "lmstudio", 9000, model.No, "is not loaded"},
		{"any other", map[string]string{"/props": `not JSON`, "/api/show": `{}`}, "openai", 9000, model.Unknown, "only 9000"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := modeltest.New(t)
			s.HandleJSON("/v1/models", `{"data":[{"id":"m","max_model_len":9000}]}`)
			for path, text := range tt.routes {
				s.HandleJSON(path, text)
			}
			p := provider(t, s)
			got, err := p.Report(t.Context(), "m")
			if err != nil {
				t.Fatal(err)
			}
			warnings := strings.Join(got.Warnings, "; ")
			if got.ID != "m" || got.Server != tt.server || got.Window != tt.window || got.Images != tt.images ||
				!strings.Contains(warnings, tt.warning) || (warnings != "") != (tt.warning != "") {
				t.Errorf("got %+v", got)
			}
			listedOnly := tt.server == "ollama" || tt.server == "llama.cpp"
			if info := p.Describe(t.Context(), "m"); info.Window != tt.window || info.Images != tt.images || info.ListedOnly != listedOnly {
				t.Errorf("described %+v", info)
			}
			for _, r := range s.Requests() {
				if r.Header.Get("Authorization") != "Bearer "+canary || r.Header.Get("User-Agent") != "acp-agent/dev" {
					t.Errorf("%s with %v", r.Path, r.Header)
				}
			}
		})
	}
}

// What a server was asked for counts for more than its list, which is asked for again after
// the probe: older ones of llama.cpp list the window that the model was made for.
func TestProbe_OutranksTheList(t *testing.T) {
	s := modeltest.New(t)
	s.HandleJSON("/v1/models", `{"data":[{"id":"m","max_model_len":131072}]}`)
	s.HandleJSON("/props", `{"default_generation_settings":{"n_ctx":8192}}`)
	p := provider(t, s)
	if _, err := p.Probe(t.Context(), "m"); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Models(t.Context()); err != nil {
		t.Fatal(err)
	}
	if window := p.Describe(t.Context(), "m").Window; window != 8192 {
		t.Errorf("the window is %d", window)
	}
}

// llama.cpp lists its models while it loads one, and cannot tell the window then. It is not
// taken for a server that has nothing to tell (github.com/ggml-org/llama.cpp,
// tools/server/server-http.cpp, middleware_server_state).
func TestProbe_Loading(t *testing.T) {
	s := modeltest.New(t)
	s.HandleJSON("/v1/models", `{"object":"list","data":[{"id":"m","object":"model","owned_by":"llamacpp","meta":null}]}`)
	loading := func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte(`{"error":{"message":"Loading model","type":"unavailable_error","code":503}}`))
	}
	s.Handle("/props", loading)
	s.Handle("/api/show", loading)
	p := provider(t, s)
	if warnings, err := p.Probe(t.Context(), "m"); model.AsError(err).Kind != model.Transient || err == nil || warnings != nil {
		t.Errorf("a server that loads its model told %q, error %v", warnings, err)
	}
	s.HandleJSON("/props", `{"default_generation_settings":{"n_ctx":8192}}`)
	if warnings, err := p.Probe(t.Context(), "m"); err != nil || len(warnings) != 1 {
		t.Errorf("a server that has loaded its model told %q, error %v", warnings, err)
	}
}

// Ollama says of a model that it can think; the catalogue's levels stand back.
func TestProbe_Thinks(t *testing.T) {
	s := modeltest.New(t)
	s.HandleJSON("/v1/models", `{"data":[{"id":"m"}]}`)
	s.HandleJSON("/api/show", `{"model_info":{},"parameters":"num_ctx 16384","capabilities":["tools","thinking"]}`)
	p := provider(t, s)
	if levels := p.Describe(t.Context(), "m").ThoughtLevels; levels != nil {
		t.Errorf("levels %q before it was asked", levels)
	}
	if _, err := p.Report(t.Context(), "m"); err != nil {
		t.Fatal(err)
	}
	if levels := p.Describe(t.Context(), "m").ThoughtLevels; strings.Join(levels, " ") != "off low medium high" {
		t.Errorf("levels %q", levels)
	}
}

func TestProbe_OnlyLocal(t *testing.T) {
	for base, local := range map[string]bool{
		"http://localhost:1/v1": true, "http://127.0.0.1/v1": true, "http://[::1]:1/v1": true, "http://10.1.2.3/v1": true, "http://box.local/v1": true,
		"https://api.openai.com/v1": false, "http://8.8.8.8/v1": false, "http://localhost.example/v1": false,
	} {
		p, err := openai.New(openai.Options{BaseURL: base, Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			if !local {
				t.Errorf("%s was asked", r.URL)
			}
			return nil, errors.New("no network")
		})})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Report(t.Context(), "m"); p.Local() != local || errors.Is(err, openai.ErrNotLocal) == local {
			t.Errorf("%s: local %t, %v", base, p.Local(), err)
		}
	}
}

func TestNew_Errors(t *testing.T) {
	for name, opts := range map[string]openai.Options{
		"want http://host/v1":            {BaseURL: "localhost:8080"},
		"must not hold a user":           {BaseURL: "https://me:" + canary + "@host/v1"},
		"invalid port":                   {BaseURL: "http://host:x?" + canary},
		`"messages" cannot be replaced`:  {ExtraBody: map[string]any{"messages": 1}},
		`extra body "x": json: unsuppor`: {ExtraBody: map[string]any{"x": func() {}}},
	} {
		_, err := openai.New(opts)
		if err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), canary) {
			t.Errorf("got %v, want %q", err, name)
		}
	}
	if _, err := openai.New(openai.Options{}); err != nil {
		t.Error(err)
	}
}
