package responses

import (
	"slices"
	"strconv"

	"acp-agent/model"
	"acp-agent/model/wire"
)

// leastOutput is the smallest max_output_tokens that OpenAI takes ("integer below minimum
// value. Expected a value >= 16": github.com/vectorize-io/hindsight/issues/58).
const leastOutput = 16

// encrypted asks for the reasoning in a form that can be sent back to a server that keeps
// nothing (developers.openai.com/api/docs/guides/reasoning, Encrypted reasoning items).
const encrypted = `["reasoning.encrypted_content"]`

// params are the members of the request other than model, stream, tools, instructions and
// input, without the parameters that the server refused before.
func (p *Provider) params(req *model.Request) []wire.Param {
	params := []wire.Param{{Name: "store", Text: []byte("false")}}
	if p.chat.Reasons(req.Model) != model.No {
		params = append(params, wire.Param{Name: "include", Text: []byte(encrypted)})
		if text := p.reasoning(req); text != nil {
			params = append(params, wire.Param{Name: "reasoning", Text: text})
		}
	}
	if req.Temperature != nil {
		params = append(params, wire.Param{Name: "temperature", Text: strconv.AppendFloat(nil, *req.Temperature, 'f', -1, 64)})
	}
	if req.MaxTokens > 0 {
		params = append(params, wire.Param{Name: "max_output_tokens", Text: strconv.AppendInt(nil, int64(max(req.MaxTokens, leastOutput)), 10)})
	}
	if req.CacheKey != "" {
		params = append(params, wire.Param{Name: "prompt_cache_key", Text: wire.AppendString(nil, req.CacheKey)})
	}
	params = wire.WithExtra(params, p.extra)
	return slices.DeleteFunc(params, func(one wire.Param) bool { return !p.takes(req.Model, one.Name) })
}

// The parts of the member reasoning that a server may refuse by themselves.
const (
	effortPart  = "reasoning.effort"
	summaryPart = "reasoning.summary"
)

// effort names an effort among what a server refused: models differ in their efforts.
func effort(value string) string { return effortPart + "=" + value }

// reasoning is the member of that name, nil for none. Without a summary the user sees
// nothing of the thoughts.
func (p *Provider) reasoning(req *model.Request) []byte {
	b := []byte("{")
	if req.ThoughtLevel != "" {
		value := p.chat.Effort(req.Model, req.ThoughtLevel)
		if p.takes(req.Model, effort(value)) && p.takes(req.Model, effortPart) {
			b = append(b, `"effort":`...)
			b = wire.AppendString(b, value)
		}
	}
	if p.takes(req.Model, summaryPart) {
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(b, `"summary":"auto"`...)
	}
	if len(b) == 1 {
		return nil
	}
	return append(b, '}')
}

// appendTools writes the tools member, or nothing when there are none. Functions are strict
// unless one says otherwise, which ours cannot be: a strict one has all of its parameters
// required (developers.openai.com/api/docs/guides/migrate-to-responses, Additional
// differences).
func appendTools(b []byte, tools []model.Tool) []byte {
	if len(tools) == 0 {
		return b
	}
	b = append(b, `,"tools":[`...)
	for i, tool := range tools {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"type":"function","name":`...)
		b = wire.AppendString(b, tool.Name)
		b = append(b, `,"description":`...)
		b = wire.AppendString(b, tool.Description)
		b = append(b, `,"parameters":`...)
		b = wire.AppendSchema(b, tool.Parameters)
		b = append(b, `,"strict":false}`...)
	}
	return append(b, ']')
}
