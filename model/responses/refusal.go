package responses

import (
	"errors"
	"maps"
	"slices"

	"acp-agent/model"
	"acp-agent/model/wire"
	"acp-agent/transcript"
)

// richOutput names results of calls that hold images among what a server refused.
const richOutput = "output"

// learnRefusal notes what a server refused a request for, if the request can do without it, and
// reports whether it is worth another try. The warning, if it has a title, is for the user.
// Each try learns something new, so there is an end to them.
func (p *Provider) learnRefusal(req *model.Request, sent []wire.Param, err error) (warning model.Chunk, again bool) {
	var e *model.Error
	var d *wire.Detail
	if !errors.As(err, &e) || !errors.As(err, &d) || e.Interrupted || e.Status != 400 && e.Status != 404 && e.Status != 422 {
		return model.Chunk{}, false
	}
	if staleReasoning(d) {
		return model.Chunk{}, p.forget(req)
	}
	if e.Status == 404 {
		return model.Chunk{}, false
	}
	if p.dropRefused(req, sent, d) || p.dropRichOutput(req, d) {
		return model.Chunk{}, true
	}
	return p.chat.ImagesRefused(req, err)
}

// staleReasoning reports whether an error is about what is sent back of earlier answers:
// it cannot be decrypted, because it is of another account ("The encrypted content gAAA…
// could not be verified.", invalid_encrypted_content: github.com/openai/codex/issues/8145),
// it is looked for among what was stored (status 404: github.com/can1357/oh-my-pi/issues/41),
// or items are missing beside it.
func staleReasoning(d *wire.Detail) bool {
	return d.Label() == "invalid_encrypted_content" || d.Contains("items are not persisted", "was provided without its required") ||
		d.Contains("encrypted content", "encrypted_content") && d.Contains("verified", "decrypt", "pars")
}

// forget leaves the reasoning of the conversation out from now on. It reports whether there
// was any.
func (p *Provider) forget(req *model.Request) bool {
	if req.Memo == nil {
		return false
	}
	known := memoOf(req, p.style(req.Model))
	stale := maps.Clone(known.stale)
	if stale == nil {
		stale = map[*transcript.Message]bool{}
	}
	found := false
	for _, m := range req.Messages {
		if m.Role == transcript.Assistant && m.Origin == known.origin && !stale[m] {
			stale[m], found = true, true
		}
	}
	if found {
		p.server.Logger.Debug("model server refused reasoning of earlier answers", "model", req.Model)
		req.Memo.Value = &memo{stale: stale}
	}
	return found
}

// dropRefused notes the parameter that the server complains of, if there is one among those
// sent (R66): each is a wish, not a need.
func (p *Provider) dropRefused(req *model.Request, sent []wire.Param, d *wire.Detail) bool {
	has := func(name string) bool {
		return slices.ContainsFunc(sent, func(one wire.Param) bool { return one.Name == name })
	}
	if has("reasoning") && p.dropReasoning(req, d) {
		return true
	}
	// "Encrypted content is not supported with this model."
	// (github.com/microsoft/agent-framework/issues/7483)
	if has("include") && (d.Names("include") || d.Contains("encrypted content is not supported")) {
		p.drop(req.Model, "include")
		return true
	}
	for _, name := range []string{"temperature", "max_output_tokens", "prompt_cache_key", "store"} {
		if has(name) && d.Names(name) {
			p.drop(req.Model, name)
			return true
		}
	}
	return false
}

// dropReasoning notes the part of the member reasoning that the server complains of: the
// summary, which accounts have to be entitled to ("Your organization must be verified to
// generate reasoning summaries.": github.com/openai/openai-cookbook/issues/2271), an effort
// that the model does not have, or all of it.
func (p *Provider) dropReasoning(req *model.Request, d *wire.Detail) bool {
	value := effort(p.chat.Effort(req.Model, req.ThoughtLevel))
	switch {
	case d.Label() == "unsupported_parameter" && d.Param == effortPart: // it does not think
		p.drop(req.Model, "reasoning")
	case (d.Param == summaryPart || d.Contains(summaryPart, "reasoning summar")) && p.takes(req.Model, summaryPart):
		p.drop(req.Model, summaryPart)
	case (d.Param == effortPart || d.Contains(effortPart, "reasoning effort", "reasoning_effort")) && req.ThoughtLevel != "" && p.takes(req.Model, value):
		p.drop(req.Model, value)
	case d.Param == "reasoning" || d.Names("reasoning"):
		p.drop(req.Model, "reasoning")
	default:
		return false
	}
	return true
}

// dropRichOutput notes that the server wants results of calls as text alone ("Output of tool
// call should be 'Input text'": github.com/ggml-org/llama.cpp/issues/23542; "Invalid type
// for 'input'.", invalid_union: lmstudio-ai/lmstudio-bug-tracker/issues/2248), if this
// request had some with images.
func (p *Provider) dropRichOutput(req *model.Request, d *wire.Detail) bool {
	s := p.style(req.Model)
	if !s.rich || !s.images || d.AboutOneImage() || d.RefusesImages() {
		return false
	}
	with := slices.ContainsFunc(req.Messages, func(m *transcript.Message) bool {
		return slices.ContainsFunc(m.Calls(), func(call *transcript.ToolPart) bool { return len(call.Images) > 0 })
	})
	if !with {
		return false
	}
	p.drop(req.Model, richOutput)
	return true
}
