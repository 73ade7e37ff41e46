package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"acp-agent/model"
	"acp-agent/model/catalogue"
	"acp-agent/model/wire"
)

// Models asks the server for its models, for at most 10 seconds, and returns
// the chat models, sorted by id. What the server tells about them is kept for
// Describe.
func (p *Provider) Models(ctx context.Context) ([]model.Info, error) {
	entries, err := p.listModels(ctx)
	if err != nil {
		return nil, err
	}
	infos := make([]model.Info, 0, len(entries))
	for _, entry := range entries {
		if entry.ID == "" || !p.chats(entry.ID) {
			continue
		}
		p.learn(p.known, entry.info())
		info := p.info(string(entry.ID))
		if name := entry.name(); name != "" {
			info.Name = name
		}
		infos = append(infos, info)
	}
	slices.SortFunc(infos, func(a, b model.Info) int { return strings.Compare(a.ID, b.ID) })
	return slices.CompactFunc(infos, func(a, b model.Info) bool { return a.ID == b.ID }), nil
}

// Describe tells what is known of a model without asking the server: the options
// first, then what the server told Models or Probe, then the model catalogue. On
// a local server the catalogue says nothing of windows: there they depend on how
// the server was started.
func (p *Provider) Describe(_ context.Context, id string) model.Info { return p.info(id) }

func (p *Provider) info(id string) model.Info {
	info := p.catalogued(id)
	p.mu.Lock()
	known, blind := p.known[id], p.blind[id]
	known.merge(p.probed[id])
	p.mu.Unlock()
	if known.Name != "" {
		info.Name = known.Name
	}
	if known.ThoughtLevels != nil {
		info.ThoughtLevels = slices.Clone(known.ThoughtLevels)
	}
	if known.Images != model.Unknown {
		info.Images = known.Images
	}
	info.Window = firstPositive(known.Window, info.Window, p.opts.DefaultWindow)
	if known.MaxOutput > 0 {
		info.MaxOutput = known.MaxOutput
	}
	if window := p.opts.Window[id]; window > 0 {
		info.Window = window
	}
	info.ListedOnly = p.opts.ListedOnly || known.ListedOnly
	if images, set := p.opts.Images[id]; set {
		info.Images = visionOf(&images)
	}
	if blind {
		info.Images = model.No // whatever was said before
	}
	return info
}

// catalogued is what the model catalogue says of a model.
func (p *Provider) catalogued(id string) model.Info {
	entry, _ := catalogue.Find(p.opts.Catalogue, id)
	info := model.Info{ID: id, Name: entry.Name, ThoughtLevels: p.levels(entry)}
	switch {
	case entry.Images:
		info.Images = model.Yes
	case entry.Listed:
		info.Images = model.No // elsewhere it is not sure enough to keep images back
	}
	if !p.local {
		info.Window, info.MaxOutput = entry.Window, entry.Output
	}
	return info
}

// learned is what a server told of a model.
type learned struct{ model.Info }

// merge takes over what a later or better source told; what that source did not tell stays.
func (l *learned) merge(more learned) {
	if more.Name != "" {
		l.Name = more.Name
	}
	if more.Window > 0 {
		l.Window = more.Window
	}
	if more.MaxOutput > 0 {
		l.MaxOutput = more.MaxOutput
	}
	if more.Images != model.Unknown {
		l.Images = more.Images
	}
	if len(more.ThoughtLevels) > 0 {
		l.ThoughtLevels = more.ThoughtLevels
	}
	l.ListedOnly = l.ListedOnly || more.ListedOnly
}

// learn adds what the server told of a model to known or probed. A probe counts for more,
// whichever was asked last: a list may have the window that the model was made for.
func (p *Provider) learn(into map[string]learned, info model.Info) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := into[info.ID]
	known.ID = info.ID
	known.merge(learned{info})
	into[info.ID] = known
}

// chats reports whether a model is one to talk to, as far as its id tells.
func (p *Provider) chats(id literal) bool {
	others := []string{"embed", "rerank", "whisper", "moderation"}
	if p.Official() {
		others = append(others, "tts", "dall-e", "transcribe", "realtime", "image", "audio", "sora", "babbage", "davinci", "instruct")
	}
	name := strings.ToLower(string(id))
	return !slices.ContainsFunc(others, func(part string) bool { return strings.Contains(name, part) })
}

// entry is a model in a server's list, in the words of several servers.
type entry struct {
	ID      literal `json:"id"`
	Name    literal `json:"name"`
	Display literal `json:"display_name"`

	ContextLength int `json:"context_length"` // OpenRouter and others
	ContextWindow int `json:"context_window"` // Groq
	MaxModelLen   int `json:"max_model_len"`  // vLLM
	MaxContext    int `json:"max_context_length"`
	Meta          struct {
		Context int `json:"n_ctx"`
	} `json:"meta"` // llama.cpp; its n_ctx_train is not a window that one has

	MaxCompletion int `json:"max_completion_tokens"`
	TopProvider   struct {
		ContextLength int `json:"context_length"`
		MaxCompletion int `json:"max_completion_tokens"`
	} `json:"top_provider"`
	Architecture struct {
		Input []string `json:"input_modalities"`
	} `json:"architecture"`
	Capabilities json.RawMessage `json:"capabilities"`
}

func (e *entry) name() string {
	for _, name := range []literal{e.Display, e.Name} {
		if name != "" && name != e.ID {
			return wire.OneLine(string(name))
		}
	}
	return ""
}

func (e *entry) info() model.Info {
	info := model.Info{ID: string(e.ID), Name: e.name()}
	info.Window = firstPositive(e.TopProvider.ContextLength, e.ContextLength, e.ContextWindow, e.MaxModelLen, e.Meta.Context, e.MaxContext)
	info.MaxOutput = firstPositive(e.TopProvider.MaxCompletion, e.MaxCompletion)
	info.Images = listsImages(e.Architecture.Input, "image")
	var flags struct{ Vision *bool }
	if json.Unmarshal(e.Capabilities, &flags) == nil && flags.Vision != nil {
		info.Images = visionOf(flags.Vision)
	}
	return info
}

func firstPositive(numbers ...int) int {
	for _, n := range numbers {
		if n > 0 {
			return n
		}
	}
	return 0
}

func (p *Provider) listModels(ctx context.Context) ([]entry, error) {
	body, err := p.server.Fetch(ctx, func(ctx context.Context) (*http.Response, error) { return p.client.get(ctx, "models") })
	if err != nil {
		return nil, err
	}
	var (
		list     struct{ Data, Models []entry }
		mismatch *json.UnmarshalTypeError
		target   any = &list
	)
	if strings.HasPrefix(strings.TrimSpace(string(body[:min(len(body), 64)])), "[") {
		target = &list.Data
	}
	if err := json.Unmarshal(body, target); err != nil && !errors.As(err, &mismatch) {
		return nil, &model.Error{Kind: model.Invalid, Message: fmt.Sprintf("the model server's list of models is not JSON (%d bytes)", len(body)), Hint: p.server.BaseHint(), Err: err}
	}
	return append(list.Data, list.Models...), nil
}
