package anthropic

import (
	"strings"

	"acp-agent/model"
)

// abilities are what is known of a model.
type abilities struct {
	name           string
	window, output int // tokens
	images         model.Answer
	// adaptive models choose how much to think; budget models are given a number of
	// tokens. A model that is neither is not asked to think.
	adaptive, budget bool
	// off says that thinking can be switched off where it is on by itself.
	off     bool
	efforts []string
}

// family is what is known of the models whose ids begin alike.
type family struct {
	prefix string
	abilities
}

var (
	efforts4 = []string{"low", "medium", "high", "max"}
	efforts5 = []string{"low", "medium", "high", "xhigh", "max"}
)

// families are in order: of several that match, the first counts. What the server itself
// tells (GET /v1/models) comes before it.
//
// Windows and outputs: platform.claude.com/docs/en/models/ID/overview of each model. Kinds
// of thinking: platform.claude.com/docs/en/build-with-claude/adaptive-thinking and
// extended-thinking; docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-adaptive-thinking.html:
// Opus 4.7 and what came after it refuse budgets, Fable and Mythos refuse to have thinking
// switched off as well, Opus 4.6 and Sonnet 4.6 take both, older models take budgets only.
var families = []family{
	{"claude-fable-", abilities{window: 1_000_000, output: 128_000, images: model.Yes, adaptive: true, efforts: efforts5}},
	{"claude-mythos-", abilities{window: 1_000_000, output: 128_000, images: model.Yes, adaptive: true, efforts: efforts5}},
	{"claude-opus-5-5", abilities{window: 1_000_000, output: 128_000, images: model.Yes, adaptive: true, efforts: efforts5}},
	{"claude-opus-5", abilities{window: 1_000_000, output: 128_000, images: model.Yes, adaptive: true, off: true, efforts: efforts5}},
	{"claude-sonnet-5", abilities{window: 1_000_000, output: 128_000, images: model.Yes, adaptive: true, off: true, efforts: efforts5}},
	{"claude-haiku-5", abilities{window: 1_000_000, output: 128_000, images: model.Yes, adaptive: true, off: true, efforts: efforts5}},
	{"claude-opus-4-8", abilities{window: 1_000_000, output: 128_000, images: model.Yes, adaptive: true, off: true, efforts: efforts5}},
	{"claude-opus-4-7", abilities{window: 1_000_000, output: 128_000, images: model.Yes, adaptive: true, off: true, efforts: efforts5}},
	{"claude-opus-4-6", abilities{window: 200_000, output: 128_000, images: model.Yes, adaptive: true, off: true, efforts: efforts4}},
	{"claude-sonnet-4-6", abilities{window: 200_000, output: 64_000, images: model.Yes, adaptive: true, off: true, efforts: efforts4}},
	{"claude-opus-4-5", abilities{window: 200_000, output: 64_000, images: model.Yes, budget: true}},
	{"claude-sonnet-4", abilities{window: 200_000, output: 64_000, images: model.Yes, budget: true}},
	{"claude-haiku-4", abilities{window: 200_000, output: 64_000, images: model.Yes, budget: true}},
	{"claude-opus-4", abilities{window: 200_000, output: 32_000, images: model.Yes, budget: true}},
	{"claude-3-7-sonnet", abilities{window: 200_000, output: 64_000, images: model.Yes, budget: true}},
	{"claude-3-5-", abilities{window: 200_000, output: 8_192, images: model.Yes}},
	{"claude-3-", abilities{window: 200_000, output: 4_096, images: model.Yes}},
}

// familyOf finds what is known of a model by its id; routers put an owner before the id.
func familyOf(id string) abilities {
	name := strings.ToLower(id[strings.LastIndexByte(id, '/')+1:])
	for _, f := range families {
		if strings.HasPrefix(name, f.prefix) {
			return f.abilities
		}
	}
	return abilities{}
}

// levels are the thought levels of a model. noThought stands first where thinking is on by
// itself and can be switched off.
func (a *abilities) levels() []string {
	switch {
	case a.adaptive && a.off:
		return append([]string{noThought}, a.efforts...)
	case a.adaptive:
		return append([]string(nil), a.efforts...)
	case a.budget:
		return []string{"low", "medium", "high"}
	}
	return nil
}
