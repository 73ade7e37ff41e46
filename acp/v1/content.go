package v1

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"acp-agent/acp/schema"
	"acp-agent/transcript"
)

// maxImageBytes bounds a picture in a prompt, decoded.
const maxImageBytes = 20 << 20

// promptParts turns the blocks of a prompt into parts of a message (R159). A kind of content
// that the agent did not advertise is an error, and so is an empty prompt.
func promptParts(blocks []schema.ContentBlock) ([]transcript.Part, error) {
	var parts []transcript.Part
	for i, block := range blocks {
		part, err := promptPart(block)
		if err != nil {
			return nil, fmt.Errorf("prompt[%d]: %w", i, err)
		}
		parts = append(parts, part)
	}
	if !slices.ContainsFunc(parts, notBlank) {
		return nil, errors.New("the prompt is empty")
	}
	return parts, nil
}

// notBlank reports whether a part is more than blank text.
func notBlank(part transcript.Part) bool {
	text, ok := part.(*transcript.TextPart)
	return !ok || strings.TrimSpace(text.Text) != ""
}

func promptPart(block schema.ContentBlock) (transcript.Part, error) {
	switch block := block.(type) {
	case schema.TextContent:
		return &transcript.TextPart{Text: block.Text}, nil
	case schema.ImageContent:
		return imagePart(block.MimeType, block.Data, block.URI)
	case schema.ResourceLink:
		return &transcript.LinkPart{
			URI: block.URI, Name: block.Name, Title: block.Title, Description: block.Description, MediaType: block.MimeType,
			Size: sizeOf(block.Size),
		}, nil
	case schema.EmbeddedResource:
		return resourcePart(block)
	case schema.AudioContent:
		return nil, errors.New("audio is not supported")
	}
	return nil, errors.New("unknown kind of content")
}

func resourcePart(block schema.EmbeddedResource) (transcript.Part, error) {
	switch resource := block.Resource.(type) {
	case schema.TextResourceContents:
		return &transcript.ResourcePart{URI: resource.URI, Text: resource.Text, MediaType: resource.MimeType}, nil
	case schema.BlobResourceContents:
		if strings.HasPrefix(resource.MimeType, "image/") {
			return imagePart(resource.MimeType, resource.Blob, resource.URI)
		}
		// The model cannot read binary content, but learns that it exists.
		return &transcript.LinkPart{
			URI: resource.URI, Name: resource.URI, MediaType: resource.MimeType,
			Description: "binary content that the model was not sent",
		}, nil
	}
	return nil, errors.New("unknown kind of resource")
}

func imagePart(mediaType, data, uri string) (transcript.Part, error) {
	if !strings.HasPrefix(mediaType, "image/") {
		return nil, fmt.Errorf("an image cannot have the type %q", mediaType)
	}
	if base64.StdEncoding.DecodedLen(len(data)) > maxImageBytes {
		return nil, fmt.Errorf("the image is larger than %d MiB", maxImageBytes>>20)
	}
	if _, err := base64.StdEncoding.DecodeString(data); err != nil {
		return nil, errors.New("the image is not valid base64")
	}
	return &transcript.ImagePart{MediaType: mediaType, Data: data, URI: uri}, nil
}

func sizeOf(size *int64) int64 {
	if size == nil {
		return 0
	}
	return *size
}
