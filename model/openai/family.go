package openai

import "strings"

// family is what is known of the models whose ids begin alike.
type family struct {
	prefix string
	window int // tokens; 0 when members differ
	output int
	images bool
	levels []string
}

var (
	efforts        = []string{"low", "medium", "high"}
	minimalEfforts = []string{"minimal", "low", "medium", "high"}
)

// families are in order: of several that match, the first counts. Only what is
// sure is in here, for a wrong window is worse than none.
var families = []family{
	{"gpt-5-chat", 128_000, 16_384, true, nil},
	{"gpt-5-codex", 400_000, 128_000, true, efforts},
	{"gpt-5-pro", 400_000, 128_000, true, nil},
	{"gpt-5.", 0, 0, true, efforts},
	{"gpt-5", 400_000, 128_000, true, minimalEfforts},
	{"gpt-4.1", 1_047_576, 32_768, true, nil},
	{"gpt-4o", 128_000, 16_384, true, nil},
	{"chatgpt-4o", 128_000, 16_384, true, nil},
	{"gpt-4-turbo", 128_000, 4_096, true, nil},
	{"gpt-4-32k", 32_768, 0, false, nil},
	{"gpt-4", 8_192, 0, false, nil},
	{"gpt-3.5-turbo", 16_385, 4_096, false, nil},
	{"gpt-oss", 131_072, 0, false, efforts},
	{"o1-mini", 128_000, 65_536, false, nil},
	{"o1-preview", 128_000, 32_768, false, nil},
	{"o1", 200_000, 100_000, true, efforts},
	{"o3-mini", 200_000, 100_000, false, efforts},
	{"o3", 200_000, 100_000, true, efforts},
	{"o4-mini", 200_000, 100_000, true, efforts},
	{"claude-instant", 100_000, 0, false, nil},
	{"claude-2", 0, 0, false, nil},
	{"claude-", 200_000, 0, true, nil},
	{"gemini-1.5-pro", 2_097_152, 8_192, true, nil},
	{"gemini-1.5-flash", 1_048_576, 8_192, true, nil},
	{"gemini-2", 1_048_576, 0, true, nil},
	{"gemini-", 0, 0, true, nil},
	{"llama-3.1", 131_072, 0, false, nil},
	{"llama-3.3", 131_072, 0, false, nil},
	{"qwen2.5-vl", 0, 0, true, nil},
	{"qwen3-vl", 0, 0, true, nil},
	{"qwen3-coder", 262_144, 0, false, nil},
	{"llava", 0, 0, true, nil},
}

// familyOf finds the family of a model; routers put an owner before the id.
func familyOf(id string) family {
	name := strings.ToLower(id[strings.LastIndexByte(id, '/')+1:])
	for _, f := range families {
		if strings.HasPrefix(name, f.prefix) {
			return f
		}
	}
	return family{}
}
