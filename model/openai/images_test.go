package openai_test

import (
	"strings"
	"testing"

	"acp-agent/internal/testkit/modeltest"
	"acp-agent/model"
	"acp-agent/transcript"
)

var picture = transcript.ImagePart{MediaType: "image/png", Data: "aGk="}

// withPicture is a prompt with a picture.
func withPicture() *transcript.Message {
	return &transcript.Message{Role: transcript.User, Finished: true, Parts: []transcript.Part{&transcript.TextPart{Text: "look"}, &picture}}
}

// read is an answer that read a picture.
func read() *transcript.Message {
	return &transcript.Message{Role: transcript.Assistant, Finished: true, Parts: []transcript.Part{&transcript.ToolPart{
		CallID: "1", Name: "read", Input: "{}", State: transcript.Done, Result: &transcript.Envelope{Type: transcript.Output}, Text: "an image", Images: []transcript.ImagePart{picture},
	}}}
}

// refusals are what servers answered to a request with an image for a model that takes
// none, as users reported it. The source of each is an issue of a public tracker.
var refusals = []struct {
	name, source string
	status       int
	body         string
}{
	{"vLLM", "studio-dots-ai/dots.ocr#61", 400, `{"object":"error","message":"facebook/opt-125m is not a multimodal model None","type":"BadRequestError","param":null,"code":400}`},
	{"NVIDIA NIM", "Alishahryar1/free-claude-code#1233", 400, `{"message":"/config/models/squirtle_instruct is not a multimodal model","type":"BadRequestError","param":null,"code":400}`},
	{"Ollama", "open-webui/open-webui#13077", 500, `{"error":{"message":"Failed to create new sequence: failed to process inputs: this model is missing data required for image input","type":"api_error","param":null,"code":null}}`},
	{"Ollama's cloud", "ollama/ollama#17301", 400, `{"error":{"message":"this model does not support image input (ref: b8bd630e)","type":"invalid_request_error"}}`},
	{"llama.cpp", "ggml-org/llama.cpp#15377", 500, `{"error":{"code":500,"message":"image input is not supported - hint: if this is unexpected, you may need to provide the mmproj","type":"server_error"}}`},
	{"llama.cpp, first version", "ggml-org/llama.cpp#13566", 500, `{"error":{"code":500,"message":"image input is not supported by this server","type":"server_error"}}`},
	{"llama.cpp, before images", "ggml-org/llama.cpp#12947", 500, `{"error":{"code":500,"message":"Failed to parse messages: Unsupported content part type: \"image_url\"; messages = []","type":"server_error"}}`},
	{"LM Studio", "lmstudio-ai/lmstudio-bug-tracker#908", 400, `{"error":"Model does not support images. Please use a model that does."}`},
	{"OpenRouter", "aaif-goose/goose#5396", 404, `{"error":{"message":"No endpoints found that support image input","code":404}}`},
	{"Xiaomi", "JohnnyZ93/oai-compatible-copilot#229", 404, `{"error":{"code":"404","message":"No endpoints found that support image input","param":"","type":""}}`},
	{"OpenAI", "browser-use/web-ui#274", 400, `{"error":{"message":"Invalid content type. image_url is only supported by certain models.","type":"invalid_request_error","param":"messages.[1].content.[1].type","code":null}}`},
	{"OpenAI through OpenRouter", "danny-avila/LibreChat#6333", 400, `{"error":{"code":400,"message":"Provider returned error","metadata":{"provider_name":"OpenAI","raw":"{\"error\":{\"message\":\"Invalid content type. image_url is only supported by certain models.\"}}"}}}`},
	{"DeepSeek", "esengine/DeepSeek-Reasonix#7859", 400, "{\"error\":{\"message\":\"Failed to deserialize the JSON body into the target type: messages[466]: unknown variant `image_url`, expected `text` at line 1 column 690848\",\"type\":\"invalid_request_error\"}}"},
	{"DeepSeek, before", "browser-use/web-ui#163", 422, `Failed to deserialize the JSON body into the target type: messages[1]: data did not match any variant of untagged enum ChatCompletionRequestContent at line 1 column 18231`},
	{"DeepSeek, text only", "chatboxai/chatbox#1740", 422, `Failed to deserialize the JSON body into the target type: messages[2]: invalid type: sequence, expected a string at line 1 column 2901`},
	{"Groq", "vercel/ai#2837", 400, `{"error":{"message":"message[0].content must be a string","type":"invalid_request_error"}}`},
	{"Groq, by role", "OpenHands/OpenHands#4643", 400, `{"error":{"message":"'messages.1' : for 'role:user' the following must be satisfied[('messages.1.content' : value must be a string)]","type":"invalid_request_error"}}`},
	{"Google", "google/generative-ai-docs#513", 400, `[{"error":{"code":400,"message":"Image input modality is not enabled for models/mine","status":"INVALID_ARGUMENT"}}]`},
	{"DashScope", "NousResearch/hermes-agent#97075", 400, `{"error":{"message":"[Unexpected item type in content]","type":"invalid_request_error"}}`},
}

// R28: a picture is sent to a model of which nothing is known. When its server refuses it,
// the request is made once more without it, the model is told that it is missing, the user
// is told once, and no other picture is sent to that model.
func TestImages_Refused(t *testing.T) {
	for _, tt := range refusals {
		t.Run(tt.name, func(t *testing.T) {
			s := modeltest.New(t, modeltest.Step{Status: tt.status, Body: tt.body}, modeltest.Step{Text: "ok", Repeat: 2})
			p := provider(t, s)
			req := request(withPicture())
			warnings := 0
			for range 2 {
				for chunk, err := range p.Stream(t.Context(), req) {
					if err != nil {
						t.Fatalf("%s: %v", tt.source, err)
					}
					if chunk.Kind == model.Warning {
						warnings++
						if chunk.Title == "" || !strings.Contains(chunk.Text, "fake takes no images") {
							t.Errorf("warned %q: %q", chunk.Title, chunk.Text)
						}
					}
				}
			}
			sent := s.Requests()
			if len(sent) != 3 || warnings != 1 {
				t.Fatalf("%d requests and %d warnings, want 3 and 1", len(sent), warnings)
			}
			for i, r := range sent {
				body := string(r.Body)
				if with := i == 0; strings.Contains(body, "image_url") != with || strings.Contains(body, "[image omitted") == with {
					t.Errorf("request %d: %s", i, body)
				}
			}
			if got := p.Describe(t.Context(), "fake").Images; got != model.No {
				t.Errorf("described as %v", got)
			}
		})
	}
}

// The same for what a tool has read: the picture of an earlier result does not keep the
// conversation from going on.
func TestImages_RefusedFromAResult(t *testing.T) {
	s := modeltest.New(t, modeltest.Step{Status: 400, Body: refusals[0].body}, modeltest.Step{Text: "ok"})
	got, err := ask(t.Context(), t, provider(t, s), request(user("read it"), read()))
	if err != nil || got.Text != "ok" {
		t.Fatalf("%q, %v", got.Text, err)
	}
	if sent := s.Requests(); len(sent) != 2 || !strings.Contains(string(sent[0].Body), "image_url") || !strings.Contains(string(sent[1].Body), `an image\n[image omitted`) {
		t.Errorf("%d requests", len(sent))
	}
}

// An error that another picture would not make, and one of a request without pictures, is
// the answer; a model is not taken to see nothing for it.
func TestImages_OtherErrors(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		message    *transcript.Message
	}{
		{"a broken picture", `{"error":{"message":"failed to decode image: invalid or unsupported image format"}}`, withPicture()},
		{"a format", `{"error":{"message":"This model does not support image format image/bmp"}}`, withPicture()},
		{"too many", `{"object":"error","message":"At most 1 image(s) may be provided in one request.","code":400}`, withPicture()},
		{"too large", `{"error":{"message":"image is too large: 20 MB"}}`, withPicture()},
		{"no picture", refusals[0].body, user("hello")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := modeltest.New(t, modeltest.Step{Status: 400, Body: tt.body, Repeat: 2})
			p := provider(t, s)
			if _, err := ask(t.Context(), t, p, request(tt.message)); err == nil {
				t.Error("there was no error")
			}
			if got := p.Describe(t.Context(), "fake").Images; len(s.Requests()) != 1 || got != model.Unknown {
				t.Errorf("%d requests, described as %v", len(s.Requests()), got)
			}
		})
	}
}

// A refusal in words that are not known is tried without the pictures, once: they were why
// if it is answered then, and else the first answer of the server counts.
func TestImages_RefusedInOtherWords(t *testing.T) {
	const body = `{"error":{"message":"该模型不支持图片输入"}}`
	t.Run("answered", func(t *testing.T) {
		s := modeltest.New(t, modeltest.Step{Status: 400, Body: body}, modeltest.Step{Text: "ok", Repeat: 2})
		p := provider(t, s)
		var chunks []model.Chunk
		for range 2 {
			for chunk, err := range p.Stream(t.Context(), request(withPicture())) {
				if err != nil {
					t.Fatal(err)
				}
				chunks = append(chunks, chunk)
			}
		}
		if first := chunks[0]; first.Kind != model.Warning || !strings.Contains(first.Text, "该模型不支持图片输入") {
			t.Errorf("the first chunk is %+v", first)
		}
		sent := s.Requests()
		if len(sent) != 3 || strings.Contains(string(sent[1].Body)+string(sent[2].Body), "image_url") {
			t.Errorf("%d requests", len(sent))
		}
		if got := p.Describe(t.Context(), "fake").Images; got != model.No {
			t.Errorf("described as %v", got)
		}
	})
	t.Run("something else", func(t *testing.T) {
		s := modeltest.New(t, modeltest.Step{Status: 400, Body: `{"error":{"message":"no tools here"}}`}, modeltest.Step{Status: 400, Body: `{"error":{"message":"still none"}}`})
		p := provider(t, s)
		if _, err := ask(t.Context(), t, p, request(withPicture())); err == nil || !strings.Contains(err.Error(), "no tools here") {
			t.Errorf("the error is %v", err)
		}
		if got := p.Describe(t.Context(), "fake").Images; len(s.Requests()) != 2 || got != model.Unknown {
			t.Errorf("%d requests, described as %v", len(s.Requests()), got)
		}
	})
}
