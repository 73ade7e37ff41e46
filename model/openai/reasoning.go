package openai

import (
	"strings"

	"acp-agent/transcript"
)

// field is a place in a message in which a server sends reasoning, and has it back: what
// came in one goes back in the same. Several are a set.
type field uint8

// The fields. Servers answer with 400 to one that they do not know (see learnRule).
const (
	// inReasoningContent: DeepSeek, Kimi, GLM, Qwen, llama.cpp, SGLang, vLLM before 0.16.
	inReasoningContent field = 1 << iota
	// inReasoning: vLLM since 0.16 (pull request 33402), Groq, Cerebras, Ollama.
	inReasoning
	// inThinking: servers that pass on what Ollama's own API says.
	inThinking
	// inDetails: OpenRouter, and MiniMax where it was asked to split.
	inDetails
	// inExtra: Gemini's signatures.
	inExtra
	// inChunks: Mistral's chunks of thinking within the content.
	inChunks
	// inTags: <think>…</think> in the content.
	inTags
)

// fieldName is a field as it stands in origins and in errors of servers.
type fieldName struct {
	field  field
	origin string
	wire   string
}

var fieldNames = []fieldName{
	{inReasoningContent, "reasoning_content", "reasoning_content"},
	{inReasoning, "reasoning", "reasoning"},
	{inThinking, "thinking", "thinking"},
	{inDetails, "reasoning_details", "reasoning_details"},
	{inExtra, "extra_content", "extra_content"},
	{inChunks, "chunks", "thinking"},
	{inTags, "tags", ""},
}

// textFields are the fields that hold the text of the reasoning and nothing else.
const textFields = inReasoningContent | inReasoning | inThinking

func (f field) origin() string {
	for _, name := range fieldNames {
		if name.field == f {
			return name.origin
		}
	}
	return "none"
}

// originOf begins the origin of what a model of this server says; the field of the
// reasoning follows it. Another model's signatures are refused by some servers and its
// thoughts are not this one's, so an origin holds for one model.
func (p *Provider) originOf(id string) string {
	return "chat " + p.base.Scheme + "://" + p.base.Host + strings.TrimRight(p.base.Path, "/") + " " + id + " "
}

// rules are what is known of how a model of a server wants reasoning back.
type rules struct {
	// refused are fields that the server does not take.
	refused field
	// fill is sent in reasoning_content of assistant messages that have no reasoning.
	fill fill
	// standIn puts a stand-in for a signature on the first call of messages without one.
	standIn bool
}

// fill is what is sent in place of reasoning that a message does not have.
type fill uint8

const (
	fillNone  fill = iota
	fillEmpty      // an empty text
	fillSpace      // one space, for servers that take an empty text for a missing one
)

// text is the fill as JSON.
func (f fill) text() string { return [...]string{"", `""`, `" "`}[f] }

// firstRules are what is known of a model before the server was asked. All else is learned
// from what the server sends and refuses, for the same models stand on many hosts.
//
// DeepSeek wants reasoning_content on every assistant message of a conversation with tool
// calls, "" where there was none (their guide on thinking mode; earendil-works/pi 3636,
// deepseek-harness discussion 739), and so does MiMo (their guide on passing back
// reasoning_content). Kimi wants it on messages with calls, and takes "" for
// none, but not " " (theopenco/llmgateway 2093, earendil-works/pi 4178). Gemini 3 wants a
// signature on the first call of each step (their guide on thought signatures).
func (p *Provider) firstRules(id string) rules {
	host, name := strings.ToLower(p.base.Hostname()), strings.ToLower(id[strings.LastIndexByte(id, '/')+1:])
	under := func(domains ...string) bool {
		for _, domain := range domains {
			if host == domain || strings.HasSuffix(host, "."+domain) {
				return true
			}
		}
		return false
	}
	switch {
	case under("deepseek.com", "xiaomimimo.com"):
		return rules{fill: fillEmpty}
	case under("moonshot.ai", "moonshot.cn", "kimi.com", "kimi.ai") && strings.HasPrefix(name, "kimi-"):
		return rules{fill: fillSpace}
	case under("googleapis.com") && strings.HasPrefix(name, "gemini-"):
		version := strings.TrimPrefix(name, "gemini-")
		return rules{standIn: version[:min(1, len(version))] >= "3"}
	}
	return rules{}
}

// rulesOf are the rules for a model as they are known by now.
func (p *Provider) rulesOf(id string) rules {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known, ok := p.rules[id]; ok {
		return known
	}
	return p.firstRules(id)
}

// wroteIn is the field in which the reasoning of m came, when it came from the model whose
// origins begin so; ok is false for what another wrote.
func wroteIn(m *transcript.Message, origin string) (f field, ok bool) {
	rest, ok := strings.CutPrefix(m.Origin, origin)
	if !ok {
		return 0, false
	}
	for _, name := range fieldNames {
		if name.origin == rest {
			return name.field, true
		}
	}
	return 0, rest == field(0).origin()
}
