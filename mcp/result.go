package mcp

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// maxImages bounds the images of one result.
const maxImages = 20

// resultOf is what a server answered, as a result or, when it says so, as an error of the
// tool. What it holds is data, and nothing of it is heeded (M5).
func resultOf(answer *sdk.CallToolResult) (*tools.Result, error) {
	result := &tools.Result{}
	var texts []string
	for _, content := range answer.Content {
		if text := readable(result, content); text != "" {
			texts = append(texts, text)
		}
	}
	text := strings.Join(texts, "\n")
	if text == "" && answer.StructuredContent != nil && len(result.Images) == 0 {
		if raw, err := json.Marshal(answer.StructuredContent); err == nil {
			text = string(raw)
		}
	}
	if answer.IsError {
		if text == "" {
			text = "the tool failed and did not say why"
		}
		return nil, &tools.Error{Kind: tools.Backend, Message: text}
	}
	switch {
	case text != "":
	case len(result.Images) == 0:
		text = "(no output)"
	case answer.StructuredContent != nil: // which is the images once more, as some servers have it
		text = "(" + kinds.Count(len(result.Images), "image") + ")"
	}
	result.Data, result.Text = text, text
	if answer.StructuredContent != nil {
		result.Data = answer.StructuredContent
	}
	result.Content = card(result)
	return result, nil
}

// readable is a piece of what a server says as text; an image is added to the result
// instead.
func readable(result *tools.Result, content sdk.Content) string {
	switch content := content.(type) {
	case *sdk.TextContent:
		return content.Text
	case *sdk.ImageContent:
		return addImage(result, content.MIMEType, content.Data)
	case *sdk.AudioContent:
		return binary("audio", content.MIMEType, content.Data)
	case *sdk.ResourceLink:
		return strings.TrimSpace(fmt.Sprintf("[resource %s: %s] %s", content.Name, content.URI, content.Description))
	case *sdk.EmbeddedResource:
		return embedded(result, content.Resource)
	}
	return ""
}

// card shows images beside the text; without any, the usual card does.
func card(result *tools.Result) []kinds.Content {
	if len(result.Images) == 0 {
		return nil
	}
	var content []kinds.Content
	if result.Text != "" {
		content = append(content, kinds.Text{Text: kinds.Fence("", clean(result.Text, maxDescription))})
	}
	for _, image := range result.Images {
		content = append(content, kinds.Image{MediaType: image.MediaType, Data: image.Data})
	}
	return content
}

// addImage adds an image to the result, or says what stood there.
func addImage(result *tools.Result, mediaType string, data []byte) string {
	if !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, mediaType) || len(result.Images) >= maxImages {
		return binary("image", mediaType, data)
	}
	result.Images = append(result.Images, transcript.ImagePart{MediaType: mediaType, Data: base64.StdEncoding.EncodeToString(data)})
	return ""
}

func embedded(result *tools.Result, resource *sdk.ResourceContents) string {
	switch {
	case resource == nil:
		return ""
	case resource.Text != "" || len(resource.Blob) == 0:
		return fmt.Sprintf("[resource %s]\n%s", resource.URI, resource.Text)
	case strings.HasPrefix(resource.MIMEType, "image/"):
		return addImage(result, resource.MIMEType, resource.Blob)
	}
	return binary("resource "+resource.URI, resource.MIMEType, resource.Blob)
}

// binary stands in for what a model cannot read.
func binary(what, mediaType string, data []byte) string {
	return fmt.Sprintf("[%s, %s, %d bytes, not shown]", what, mediaType, len(data))
}
