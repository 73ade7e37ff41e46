package wire

import (
	"fmt"

	"acp-agent/model"
	"acp-agent/transcript"
)

// imageRefusals are what servers say of a request with images to a model that takes none,
// in lower case. The last ones are said of content in parts, which only a message with
// images has. model/openai/images_test.go has whole texts, and where each is from.
var imageRefusals = []string{
	"not a multimodal model",
	"image_url is only supported by",
	"unknown variant `image_url`",
	`unsupported content part type: "image_url"`,
	"no endpoints found that support image",
	"not support image", "n't support image",
	"not support vision", "n't support vision",
	"image input is not supported",
	"image inputs are not supported",
	"image input modality is not enabled",
	"missing data required for image input",
	"at most 0 image",
	"unexpected item type in content",
	"content must be a string",
	"content' : value must be a string",
	"invalid type: sequence, expected a string",
	"untagged enum chatcompletionrequestcontent",
}

// aboutOneImage are words of an error that another image would not make.
var aboutOneImage = []string{"image format", "image type", "media type", "mime", "too large", "resolution", "dimension"}

// RefusesImages reports whether an error says that the model takes no images.
func (d *Detail) RefusesImages() bool {
	return d.Contains(imageRefusals...) && !d.Contains(aboutOneImage...)
}

// AboutOneImage reports whether an error is about the form or the number of images, so that
// others would be taken.
func (d *Detail) AboutOneImage() bool {
	return d.Contains(aboutOneImage...) || d.Contains("at most", "too many")
}

// NoImagesWarning tells the user that a model takes no images, in the words of its server.
func NoImagesWarning(id, said string) model.Chunk {
	return model.Chunk{Kind: model.Warning, Title: "Image not sent", Text: fmt.Sprintf(
		"%s takes no images, so those of this conversation are not sent to it. Choose another model to have them seen. Its server said: %s", id, said)}
}

// HasImages reports whether a conversation has images, of the user or of results.
func HasImages(messages []*transcript.Message) bool {
	for _, message := range messages {
		for _, part := range message.Parts {
			switch part := part.(type) {
			case *transcript.ImagePart:
				return true
			case *transcript.ToolPart:
				if len(part.Images) > 0 {
					return true
				}
			}
		}
	}
	return false
}
