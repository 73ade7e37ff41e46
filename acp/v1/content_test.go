package v1

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/acp/schema"
	"acp-agent/transcript"
)

func TestPromptParts(t *testing.T) {
	size := int64(12)
	tests := []struct {
		name string
		give []schema.ContentBlock
		want []transcript.Part
	}{
		{"text", []schema.ContentBlock{schema.TextContent{Text: "hi"}}, []transcript.Part{&transcript.TextPart{Text: "hi"}}},
		{
			"blank text beside something",
			[]schema.ContentBlock{schema.TextContent{Text: " \n"}, schema.ResourceLink{URI: "file:///a", Name: "a"}},
			[]transcript.Part{&transcript.TextPart{Text: " \n"}, &transcript.LinkPart{URI: "file:///a", Name: "a"}},
		},
		{
			"image",
			[]schema.ContentBlock{schema.ImageContent{MimeType: "image/png", Data: "QQ==", URI: "file:///a.png"}},
			[]transcript.Part{&transcript.ImagePart{MediaType: "image/png", Data: "QQ==", URI: "file:///a.png"}},
		},
		{
			"link",
			[]schema.ContentBlock{schema.ResourceLink{URI: "file:///a", Name: "a", Title: "A", Description: "d", MimeType: "text/plain", Size: &size}},
			[]transcript.Part{&transcript.LinkPart{URI: "file:///a", Name: "a", Title: "A", Description: "d", MediaType: "text/plain", Size: 12}},
		},
		{
			"embedded text",
			[]schema.ContentBlock{schema.EmbeddedResource{Resource: schema.TextResourceContents{URI: "file:///a", Text: "t", MimeType: "text/x"}}},
			[]transcript.Part{&transcript.ResourcePart{URI: "file:///a", Text: "t", MediaType: "text/x"}},
		},
		{
			"embedded picture",
			[]schema.ContentBlock{schema.EmbeddedResource{Resource: schema.BlobResourceContents{URI: "file:///a", Blob: "QQ==", MimeType: "image/gif"}}},
			[]transcript.Part{&transcript.ImagePart{MediaType: "image/gif", Data: "QQ==", URI: "file:///a"}},
		},
		{
			"embedded binary",
			[]schema.ContentBlock{schema.EmbeddedResource{Resource: schema.BlobResourceContents{URI: "file:///a", Blob: "QQ==", MimeType: "application/zip"}}},
			[]transcript.Part{&transcript.LinkPart{URI: "file:///a", Name: "file:///a", MediaType: "application/zip", Description: "binary content that the model was not sent"}},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := promptParts(test.give)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("parts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPromptParts_Errors(t *testing.T) {
	text := schema.TextContent{Text: "hi"}
	tests := []struct {
		name string
		give []schema.ContentBlock
		want string
	}{
		{"nothing", nil, "the prompt is empty"},
		{"blank", []schema.ContentBlock{schema.TextContent{Text: " \n"}}, "the prompt is empty"},
		{"audio", []schema.ContentBlock{text, schema.AudioContent{MimeType: "audio/wav", Data: "QQ=="}}, "prompt[1]: audio is not supported"},
		{"unknown", []schema.ContentBlock{nil}, "prompt[0]: unknown kind of content"},
		{"unknown resource", []schema.ContentBlock{schema.EmbeddedResource{}}, "prompt[0]: unknown kind of resource"},
		{"no image", []schema.ContentBlock{schema.ImageContent{MimeType: "text/html", Data: "QQ=="}}, `prompt[0]: an image cannot have the type "text/html"`},
		{"no base64", []schema.ContentBlock{schema.ImageContent{MimeType: "image/png", Data: "Q"}}, "prompt[0]: the image is not valid base64"},
		{
			"large",
			[]schema.ContentBlock{schema.ImageContent{MimeType: "image/png", Data: strings.Repeat("QQQQ", maxImageBytes/3+1)}},
			"prompt[0]: the image is larger than 20 MiB",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			parts, err := promptParts(test.give)
			if err == nil || err.Error() != test.want {
				t.Errorf("got %v, %v; want %q", parts, err, test.want)
			}
		})
	}
}
