package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"acp-agent/model"
	"acp-agent/model/wire"
)

// Models asks the server for its models, for at most 10 seconds, and returns them sorted by
// id. What the server tells about them is kept for Describe.
func (p *Provider) Models(ctx context.Context) ([]model.Info, error) {
	// A page has up to 1,000 models (platform.claude.com/docs/en/api/models-list).
	body, err := p.server.Fetch(ctx, func(ctx context.Context) (*http.Response, error) {
		return p.get(ctx, "models", url.Values{"limit": {"1000"}})
	})
	if err != nil {
		return nil, err
	}
	var list struct{ Data []entry }
	var mismatch *json.UnmarshalTypeError
	if err := json.Unmarshal(body, &list); err != nil && !errors.As(err, &mismatch) {
		return nil, &model.Error{Kind: model.Invalid, Message: fmt.Sprintf("the model server's list of models is not JSON (%d bytes)", len(body)), Hint: p.server.BaseHint(), Err: err}
	}
	var infos []model.Info
	for _, one := range list.Data {
		if one.ID != "" {
			p.learn(one)
			infos = append(infos, p.info(one.ID))
		}
	}
	slices.SortFunc(infos, func(a, b model.Info) int { return strings.Compare(a.ID, b.ID) })
	return slices.CompactFunc(infos, func(a, b model.Info) bool { return a.ID == b.ID }), nil
}

// Probe implements model.Provider: it asks the server for what it tells of the model. A
// server that tells nothing is not an error.
func (p *Provider) Probe(ctx context.Context, id string) ([]string, error) {
	body, err := p.server.Fetch(ctx, func(ctx context.Context) (*http.Response, error) {
		return p.get(ctx, "models/"+url.PathEscape(id), nil)
	})
	var one entry
	if err == nil && json.Unmarshal(body, &one) == nil && one.ID != "" {
		one.ID = id // an alias is answered with the id that it stands for
		p.learn(one)
	}
	return nil, ctx.Err()
}

// Describe tells what is known of a model without asking the server: the options first, then
// what the server told, then the table of families.
func (p *Provider) Describe(_ context.Context, id string) model.Info { return p.info(id) }

func (p *Provider) info(id string) model.Info {
	a := p.abilities(id)
	info := model.Info{ID: id, Name: a.name, Window: a.window, MaxOutput: a.output, Images: a.images, ThoughtLevels: a.levels()}
	if window := p.opts.Window[id]; window > 0 {
		info.Window = window
	}
	if images, set := p.opts.Images[id]; set {
		info.Images = model.No
		if images {
			info.Images = model.Yes
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.blind[id] {
		info.Images = model.No // whatever was said before
	}
	return info
}

// abilities are what the server told of a model, or else what the table of families says.
func (p *Provider) abilities(id string) abilities {
	a := familyOf(id)
	p.mu.Lock()
	defer p.mu.Unlock()
	if told, known := p.known[id]; known {
		return told
	}
	return a
}

// entry is a model in the server's list. Names are those of the official SDK's
// resources/models.d.ts, version 1.12.0.
type entry struct {
	ID           string `json:"id"`
	DisplayName  string `json:"display_name"`
	Input        int    `json:"max_input_tokens"`
	Output       int    `json:"max_tokens"`
	Capabilities *struct {
		Images   *supported `json:"image_input"`
		Thinking *struct {
			Types struct{ Adaptive, Enabled, Disabled supported }
		}
		Effort *struct{ Low, Medium, High, Xhigh, Max supported }
	}
}

type supported struct{ Supported bool }

// learn keeps what the server tells of a model; what it does not tell is that of the table.
func (p *Provider) learn(e entry) {
	a := familyOf(e.ID)
	if e.DisplayName != e.ID {
		a.name = wire.OneLine(e.DisplayName)
	}
	if e.Input > 0 {
		a.window = e.Input
	}
	if e.Output > 0 {
		a.output = e.Output
	}
	if c := e.Capabilities; c != nil {
		if c.Images != nil {
			a.images = model.No
			if c.Images.Supported {
				a.images = model.Yes
			}
		}
		if t := c.Thinking; t != nil {
			a.adaptive, a.off = t.Types.Adaptive.Supported, t.Types.Disabled.Supported
			a.budget = t.Types.Enabled.Supported && !a.adaptive
		}
		if f := c.Effort; f != nil {
			a.efforts = nil
			for i, one := range []supported{f.Low, f.Medium, f.High, f.Xhigh, f.Max} {
				if one.Supported {
					a.efforts = append(a.efforts, efforts5[i])
				}
			}
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known[e.ID] = a
}
