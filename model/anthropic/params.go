package anthropic

import (
	"slices"
	"strconv"

	"acp-agent/model"
	"acp-agent/model/wire"
)

// refused is a parameter that a server did not take for a model.
type refused struct{ model, name string }

// params are the members of the request other than model, stream, tools, system and
// messages, without the parameters that the server refused before. With thinking, the API takes no
// temperature but 1 (platform.claude.com/docs/en/build-with-claude/extended-thinking,
// Feature compatibility).
func (p *Provider) params(req *model.Request, t *thinking) []wire.Param {
	params := t.params()
	if req.Temperature != nil && t.kind != "enabled" && t.kind != "adaptive" {
		params = append(params, wire.Param{Name: "temperature", Text: strconv.AppendFloat(nil, *req.Temperature, 'f', -1, 64)})
	}
	params = wire.WithExtra(params, p.extra)
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(params, func(one wire.Param) bool { return p.dropped[refused{req.Model, one.Name}] })
}
