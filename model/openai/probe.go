package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"acp-agent/model"
	"acp-agent/model/catalogue"
	"acp-agent/model/wire"
)

// probeTimeout bounds each question of askLocal.
const probeTimeout = 2 * time.Second

// errNotLocal is returned by askLocal for servers that are not local: of those only /v1 is asked.
var errNotLocal = errors.New("only local model servers are probed")

// localReport is what a local server tells of a model.
type localReport struct {
	model.Info
	// Server is ollama, llama.cpp, lmstudio, or openai for any other.
	Server string
	// Warnings are for the user: what will not work well, and what helps.
	Warnings []string
}

// Probe implements model.Provider: it asks local servers (see askLocal) and no
// others.
func (p *Provider) Probe(ctx context.Context, id string) ([]string, error) {
	report, err := p.askLocal(ctx, id)
	switch {
	case errors.Is(err, errNotLocal):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return report.Warnings, nil
}

// askLocal asks a local server for the window that a model really has, which is
// often much smaller than the one it was made for, and for what it can do. It
// asks at most five questions of 2 seconds each. Describe has the answers
// afterwards. A server that still loads the model gives a transient error.
//
// llama.cpp is asked first: it answers one of Ollama's questions, too
// (github.com/ggml-org/llama.cpp, tools/server/server.cpp, handle_api_show), with neither
// num_ctx nor tools.
func (p *Provider) askLocal(ctx context.Context, id string) (*localReport, error) {
	if !p.local {
		return nil, errNotLocal
	}
	report := &localReport{Server: "openai"}
	if _, err := p.Models(ctx); err != nil {
		return nil, err
	}
	for _, ask := range []func(context.Context, string, *localReport) (bool, error){p.probeLlama, p.probeOllama, p.probeStudio} {
		known, err := ask(ctx, id, report)
		if err != nil {
			return nil, err
		}
		if known {
			break
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	report.ID = id
	p.learn(p.probed, report.Info)
	report.Info = p.info(id)
	if report.Window > 0 && report.Window < 16_384 {
		report.Warnings = append(report.Warnings, fmt.Sprintf("the window of %s is only %d tokens; an agent needs 16,384 or more", id, report.Window))
	}
	return report, nil
}

// ollamaDefaultWindow is the window that Ollama gives a model unless it is configured. Ollama cuts
// longer requests off without an error.
const ollamaDefaultWindow = 4096

func (p *Provider) probeOllama(ctx context.Context, id string, r *localReport) (bool, error) {
	var show struct {
		Parameters   string
		Capabilities []string
		ModelInfo    map[string]json.RawMessage `json:"model_info"`
	}
	if known, err := p.ask(ctx, http.MethodPost, "/api/show", map[string]string{"model": id}, &show); !known || show.ModelInfo == nil {
		return false, err
	}
	r.Server, r.ListedOnly = "ollama", true // its parser looks for listed names
	r.Images = listsImages(show.Capabilities, "vision")
	if show.Capabilities != nil && !slices.Contains(show.Capabilities, "tools") {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s cannot call tools", id))
	}
	if slices.Contains(show.Capabilities, "thinking") && p.opts.Thinking != NoThinking {
		r.ThoughtLevels = []string{catalogue.Off, "low", "medium", "high"}
	}
	var running struct {
		Models []struct {
			Name, Model   string
			ContextLength int `json:"context_length"`
		}
	}
	if _, err := p.ask(ctx, http.MethodGet, "/api/ps", nil, &running); err != nil {
		return false, err
	}
	for _, m := range running.Models {
		if m.Name == id || m.Model == id || m.Name == id+":latest" {
			r.Window = m.ContextLength
		}
	}
	if r.Window == 0 {
		r.Window = numCtx(show.Parameters)
	}
	if r.Window == 0 {
		r.Window = ollamaDefaultWindow
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s is not loaded and sets no num_ctx; Ollama then takes its default, often %d tokens, and silently cuts what is longer: set OLLAMA_CONTEXT_LENGTH", id, ollamaDefaultWindow))
	}
	return true, nil
}

// numCtx reads num_ctx from a model's parameters, one "name value" per line.
func numCtx(parameters string) int {
	for line := range strings.Lines(parameters) {
		if fields := strings.Fields(line); len(fields) == 2 && fields[0] == "num_ctx" {
			n, _ := strconv.Atoi(fields[1])
			return max(n, 0)
		}
	}
	return 0
}

func (p *Provider) probeLlama(ctx context.Context, _ string, r *localReport) (bool, error) {
	var props struct {
		Settings struct {
			Context int `json:"n_ctx"`
		} `json:"default_generation_settings"`
		Modalities struct{ Vision *bool }
	}
	if known, err := p.ask(ctx, http.MethodGet, "/props", nil, &props); !known || props.Settings.Context == 0 {
		return false, err
	}
	r.Server, r.Window, r.Images = "llama.cpp", props.Settings.Context, visionOf(props.Modalities.Vision)
	r.ListedOnly = true // its grammar has no other names
	return true, nil
}

// studioVision is what LM Studio's types of models mean for images.
var studioVision = map[string]model.Answer{"vlm": model.Yes, "llm": model.No}

func (p *Provider) probeStudio(ctx context.Context, id string, r *localReport) (bool, error) {
	var list struct {
		Data []struct {
			ID, Type string
			Loaded   int `json:"loaded_context_length"`
			Max      int `json:"max_context_length"`
		}
	}
	if known, err := p.ask(ctx, http.MethodGet, "/api/v0/models", nil, &list); !known {
		return false, err
	}
	for _, m := range list.Data {
		if m.ID != id || m.Max == 0 {
			continue
		}
		r.Server, r.Window, r.Images = "lmstudio", m.Loaded, studioVision[m.Type]
		if m.Loaded == 0 {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%s is not loaded; its window depends on the setting it is loaded with", id))
		}
		return true, nil
	}
	return false, nil
}

// errLoading says that the server cannot tell yet: llama.cpp lists its models while it loads
// one, and answers everything else with 503 "Loading model".
var errLoading = &model.Error{Kind: model.Transient, Status: http.StatusServiceUnavailable, Message: "the model server is loading the model"}

// ask puts a question to the server's own API, which stands beside the base
// URL's /v1, and reports whether it was answered. The error is errLoading.
func (p *Provider) ask(ctx context.Context, method, path string, body, into any) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	target := *p.base
	target.Path = strings.TrimSuffix(strings.TrimRight(target.Path, "/"), "/v1") + path
	var content io.Reader = http.NoBody
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return false, nil
		}
		content = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, target.String(), content)
	if err != nil {
		return false, nil
	}
	req.Header.Set("Content-Type", "application/json")
	p.authorize(req)
	res, err := (&http.Client{Transport: p.transport, CheckRedirect: wire.CheckRedirect}).Do(req)
	if err != nil {
		return false, nil
	}
	defer wire.CloseBody(res)
	switch res.StatusCode {
	case http.StatusOK:
	case http.StatusServiceUnavailable:
		return false, errLoading
	default:
		return false, nil
	}
	var mismatch *json.UnmarshalTypeError
	err = json.NewDecoder(io.LimitReader(res.Body, wire.MaxListBytes)).Decode(into)
	return err == nil || errors.As(err, &mismatch), nil
}

// authorize sets what the official client sets on its own requests.
func (p *Provider) authorize(req *http.Request) {
	req.Header.Set("User-Agent", "acp-agent/"+p.opts.Version)
	if p.opts.APIKey != "" {
		req.Header.Set("Authorization", "Bearer "+p.opts.APIKey)
	}
	for name, value := range p.opts.Headers {
		req.Header.Set(name, value)
	}
}
