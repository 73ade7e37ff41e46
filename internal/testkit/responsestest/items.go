package responsestest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// written is an item that an answer had.
type written struct {
	raw   string // without its status
	model string
	kind  string
	phase string
	// reasoning is the id of the reasoning before it, next that of the item after it.
	reasoning, next string
}

// inputItem is one of a request.
type inputItem struct {
	Type      string
	Role      string
	ID        string
	Status    string
	Phase     string
	CallID    string `json:"call_id"`
	Name      string
	Arguments *string
	Output    json.RawMessage
	Content   json.RawMessage
	Summary   json.RawMessage
	Encrypted string `json:"encrypted_content"`
}

// itemMembers are those of the types of items that we send (the official SDK's
// ResponseInputItem). A status of reasoning is refused: "Unknown parameter:
// 'input[1].status'" (github.com/BerriAI/litellm/issues/13420).
var itemMembers = map[string][]string{
	"message":              {"type", "role", "id", "status", "phase", "content"},
	"reasoning":            {"type", "id", "summary", "content", "encrypted_content"},
	"function_call":        {"type", "id", "call_id", "name", "arguments", "status"},
	"function_call_output": {"type", "id", "call_id", "output", "status"},
}

// input checks all items, each by itself and then in their order.
func (s *Server) input(r *request) *problem {
	var list []inputItem
	for i, raw := range r.Input {
		var item inputItem
		var all map[string]json.RawMessage
		if json.Unmarshal(raw, &all) != nil || json.Unmarshal(raw, &item) != nil {
			return bad("input", "Invalid type for 'input[%d]'.", i)
		}
		known := itemMembers[item.Type]
		if known == nil {
			return bad("input", "Invalid value: '%s'.", item.Type)
		}
		for name := range all {
			if !slices.Contains(known, name) {
				return bad("input", "Unknown parameter: 'input[%d].%s'.", i, name)
			}
		}
		if p := s.item(i, &item, raw, r.Model); p != nil {
			return p
		}
		list = append(list, item)
	}
	for _, rule := range []func([]inputItem) *problem{duplicates, calls, s.followers} {
		if p := rule(list); p != nil {
			return p
		}
	}
	return nil
}

func (s *Server) item(i int, item *inputItem, raw json.RawMessage, model string) *problem {
	if p := s.id(i, item, model); p != nil {
		return p
	}
	switch item.Type {
	case "message":
		return message(i, item)
	case "reasoning":
		return s.reasoning(i, item, raw)
	case "function_call":
		return call(i, item)
	}
	return s.output(i, item)
}

// id: an item has an id of its type ("Expected an ID that begins with 'rs'":
// github.com/jlcodes99/cockpit-tools/issues/2090), of 64 letters, numbers, underscores and
// dashes at most (github.com/langchain-ai/langchainjs/issues/11044), and one that this server
// gave it for this model: nothing is stored, so that another is not found
// (github.com/anomalyco/opencode/issues/7724; status 404: can1357/oh-my-pi/issues/41).
func (s *Server) id(i int, item *inputItem, model string) *problem {
	prefix := map[string]string{"message": "msg", "reasoning": "rs", "function_call": "fc"}[item.Type]
	switch known, ours := s.written[item.ID]; {
	case item.ID == "" && item.Type == "reasoning":
		return bad("input", "Missing required parameter: 'input[%d].id'.", i)
	case item.ID == "":
	case len(item.ID) > 64:
		return tooLong(i, "id", item.ID)
	case !nameForm.MatchString(item.ID):
		return bad("input", "Invalid 'input[%d].id': '%s'. Expected an ID that contains letters, numbers, underscores, or dashes, but this value contained additional characters.", i, item.ID)
	case !strings.HasPrefix(item.ID, prefix):
		return bad("input", "Invalid 'input[%d].id': '%s'. Expected an ID that begins with '%s'.", i, item.ID, prefix)
	case !ours || known.model != model:
		return notFound(item.ID)
	case known.phase != item.Phase:
		return bad("input", "responsestest: input[%d] has the phase %q, and had %q", i, item.Phase, known.phase)
	}
	return nil
}

// notFound is what is said of an item that would have to be stored.
func notFound(id string) *problem {
	return &problem{status: http.StatusNotFound, param: "input", text: "Item with id '" + id +
		"' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input."}
}

// tooLong: github.com/decolua/9router/issues/393, AnswerDotAI/fastllm/issues/45.
func tooLong(i int, name, text string) *problem {
	p := bad(fmt.Sprintf("input[%d].%s", i, name), "Invalid 'input[%d].%s': string too long. Expected a string with maximum length 64, but got a string with length %d instead.", i, name, len(text))
	p.code = "string_above_max_length"
	return p
}

// message: the content of a user is input, that of an assistant output ("Invalid value:
// 'input_text'. Supported values are: 'output_text' and 'refusal'.":
// github.com/sunwu51/TabPilot/pull/46); a message with an id has the form of the output.
func message(i int, item *inputItem) *problem {
	var text string
	if json.Unmarshal(item.Content, &text) == nil {
		if text == "" {
			return bad("input", "responsestest: input[%d] says nothing", i)
		}
		if item.ID != "" {
			return bad("input", "Invalid type for 'input[%d].content': expected an array of objects, but got a string instead.", i)
		}
		return nil
	}
	if item.Role == "user" {
		return content(fmt.Sprintf("input[%d].content", i), item.Content)
	}
	var parts []struct {
		Type, Text  string
		Annotations *[]json.RawMessage
	}
	switch {
	case item.Role != "assistant":
		return bad("input", "Invalid value: '%s'. Supported values are: 'assistant', 'system', 'developer', and 'user'.", item.Role)
	case json.Unmarshal(item.Content, &parts) != nil || len(parts) == 0:
		return bad("input", "Missing required parameter: 'input[%d].content'.", i)
	case item.Status != "completed":
		return bad("input", "Missing required parameter: 'input[%d].status'.", i)
	}
	for j, p := range parts {
		if p.Type != "output_text" && p.Type != "refusal" {
			return bad("input", "Invalid value: '%s'. Supported values are: 'output_text' and 'refusal'.", p.Type)
		}
		if p.Annotations == nil {
			return bad("input", "Missing required parameter: 'input[%d].content[%d].annotations'.", i, j)
		}
	}
	return nil
}

// imageForms are the pictures that are taken
// (developers.openai.com/api/docs/guides/images-vision, Image input requirements).
var imageForms = []string{"data:image/png;base64,", "data:image/jpeg;base64,", "data:image/webp;base64,", "data:image/gif;base64,"}

// content checks input: texts and images.
func content(where string, raw json.RawMessage) *problem {
	var parts []struct {
		Type, Text, Detail string
		ImageURL           string `json:"image_url"`
	}
	if json.Unmarshal(raw, &parts) != nil || len(parts) == 0 {
		return bad("input", "Missing required parameter: '%s'.", where)
	}
	for i, p := range parts {
		switch p.Type {
		case "input_text":
			if p.Text == "" {
				return bad("input", "responsestest: %s[%d] says nothing", where, i)
			}
		case "input_image":
			if !slices.ContainsFunc(imageForms, func(form string) bool { return strings.HasPrefix(p.ImageURL, form) }) {
				return bad("input", "Invalid '%s[%d].image_url'. Expected a valid URL, but got a value with an invalid format.", where, i)
			}
			if !slices.Contains([]string{"low", "high", "auto"}, p.Detail) {
				return bad("input", "Missing required parameter: '%s[%d].detail'.", where, i)
			}
		default:
			return bad("input", "Invalid value: '%s'. Supported values are: 'input_text', 'input_image', and 'input_file'.", p.Type)
		}
	}
	return nil
}

// reasoning: it comes back as it was sent, byte for byte
// (developers.openai.com/api/docs/guides/reasoning, Keeping reasoning items in context), with
// its encrypted content ("The encrypted content … could not be verified.":
// github.com/openai/codex/issues/8145).
func (s *Server) reasoning(i int, item *inputItem, raw json.RawMessage) *problem {
	known := s.written[item.ID]
	switch {
	case item.Encrypted == "":
		return notFound(item.ID)
	case item.Summary == nil:
		return bad("input", "Missing required parameter: 'input[%d].summary'.", i)
	case !strings.Contains(known.raw, `"encrypted_content":"`+item.Encrypted+`"`):
		p := bad("", "The encrypted content %.4s... could not be verified.", item.Encrypted)
		p.code = "invalid_encrypted_content"
		return p
	case known.raw != string(raw):
		return bad("input", "responsestest: the reasoning %s was changed: %s is now %s", item.ID, known.raw, raw)
	}
	return nil
}

// call: a call has an id of 64 characters at most, a name and arguments that are JSON text.
func call(i int, item *inputItem) *problem {
	switch {
	case item.CallID == "":
		return bad("input", "Missing required parameter: 'input[%d].call_id'.", i)
	case len(item.CallID) > 64:
		return tooLong(i, "call_id", item.CallID)
	case !nameForm.MatchString(item.Name):
		return bad("input", "Invalid 'input[%d].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.", i)
	case item.Arguments == nil:
		return bad("input", "Missing required parameter: 'input[%d].arguments'.", i)
	case !json.Valid([]byte(*item.Arguments)):
		return bad("input", "responsestest: the arguments of input[%d] are not JSON", i)
	}
	return nil
}

// output is text, or a list of texts and images; elsewhere text alone ("Output of tool call
// should be 'Input text'": github.com/ggml-org/llama.cpp/issues/23542).
func (s *Server) output(i int, item *inputItem) *problem {
	raw := bytes.TrimSpace(item.Output)
	switch {
	case len(raw) == 0:
		return bad("input", "Missing required parameter: 'input[%d].output'.", i)
	case raw[0] == '"':
		return nil
	case s.TextOutputs:
		return bad("", "Output of tool call should be 'Input text'")
	}
	return content(fmt.Sprintf("input[%d].output", i), raw)
}

// duplicates: github.com/OpenRouterTeam/ai-sdk-provider/issues/254.
func duplicates(list []inputItem) *problem {
	seen := map[string]bool{}
	for _, item := range list {
		if item.ID != "" && seen[item.ID] {
			return bad("input", "Duplicate item found with id %s. Remove duplicate items from your input and try again.", item.ID)
		}
		seen[item.ID] = true
	}
	return nil
}

// calls: each call has its output, after it (github.com/router-for-me/CLIProxyAPI/issues/2368,
// openai/codex/issues/620), and each output its call, before it
// (github.com/continuedev/continue/issues/10092).
func calls(list []inputItem) *problem {
	open := map[string]bool{}
	var order []string
	for _, item := range list {
		switch item.Type {
		case "function_call":
			open[item.CallID] = true
			order = append(order, item.CallID)
		case "function_call_output":
			if !open[item.CallID] {
				return bad("input", "No tool call found for function call output with call_id %s.", item.CallID)
			}
			open[item.CallID] = false
		}
	}
	for _, id := range order {
		if open[id] {
			return bad("input", "No tool output found for function call %s.", id)
		}
	}
	return nil
}

// followers: what follows reasoning is what followed it in the answer (github.com/vercel/ai/issues/7099,
// openai/openai-node/issues/1567), and an item with an id the reasoning before it that came
// before it (github.com/VRSEN/agency-swarm/issues/367, mastra-ai/mastra/issues/8738).
func (s *Server) followers(list []inputItem) *problem {
	for i, item := range list {
		known := s.written[item.ID]
		if item.Type == "reasoning" && (i+1 == len(list) || list[i+1].ID != known.next) {
			return bad("input", "Item '%s' of type 'reasoning' was provided without its required following item.", item.ID)
		}
		if item.ID != "" && known.reasoning != "" && (i == 0 || list[i-1].ID != known.reasoning) {
			return bad("input", "Item '%s' of type '%s' was provided without its required 'reasoning' item: '%s'.", item.ID, item.Type, known.reasoning)
		}
	}
	return nil
}
