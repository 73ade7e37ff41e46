package transcript

import (
	"encoding/json"
	"errors"
	"fmt"
)

// The values of "type" of parts.
const (
	textType      = "text"
	reasoningType = "reasoning"
	imageType     = "image"
	linkType      = "link"
	resourceType  = "resource"
	toolType      = "tool"
)

// The parts as JSON objects: "type" and the fields of the part.
type (
	textForm struct {
		Type string `json:"type"`
		*TextPart
	}
	reasoningForm struct {
		Type string `json:"type"`
		*ReasoningPart
	}
	imageForm struct {
		Type string `json:"type"`
		*ImagePart
	}
	linkForm struct {
		Type string `json:"type"`
		*LinkPart
	}
	resourceForm struct {
		Type string `json:"type"`
		*ResourcePart
	}
	// toolForm has the content of the card and the subagent as fields of their own, because
	// encoding/json cannot decode them.
	toolForm struct {
		Type string `json:"type"`
		*ToolPart
		Content []contentForm `json:"content,omitempty"`
		Child   *childForm    `json:"child,omitempty"`
	}
)

// EncodePart encodes a part as one line of JSON, with a "type" that names its kind, otherwise as
// [EncodeMessage] does.
func EncodePart(p Part) ([]byte, error) {
	form, err := partForm(p, 0)
	if err != nil {
		return nil, err
	}
	return encode(form)
}

// DecodePart decodes what EncodePart has encoded. An unknown type is an error that names it.
func DecodePart(data []byte) (Part, error) { return decodePart(data, 0) }

// decodePart decodes a part of a message of a subagent that is nested depth deep.
func decodePart(data []byte, depth int) (Part, error) {
	kind := writtenType(data)
	if kind == "" {
		var head struct {
			Type string `json:"type"`
		}
		if err := json.Unmarshal(data, &head); err != nil {
			return nil, fmt.Errorf("part: %w", err)
		}
		kind = head.Type
	}
	switch kind {
	case textType:
		if id, text, ok := decodePlain(data, kind); ok {
			return &TextPart{ID: id, Text: text}, nil
		}
		return decodeAs[TextPart](data)
	case reasoningType:
		if id, text, ok := decodePlain(data, kind); ok {
			return &ReasoningPart{ID: id, Text: text}, nil
		}
		return decodeAs[ReasoningPart](data)
	case imageType:
		return decodeAs[ImagePart](data)
	case linkType:
		return decodeAs[LinkPart](data)
	case resourceType:
		return decodeAs[ResourcePart](data)
	case toolType:
		return decodeTool(data, depth)
	}
	return nil, fmt.Errorf("part: unknown type %q", kind)
}

// decodeAs decodes a part all of whose fields encoding/json can decode.
func decodeAs[T any, P interface {
	*T
	Part
}](data []byte) (Part, error) {
	part := P(new(T))
	if err := json.Unmarshal(data, part); err != nil {
		return nil, fmt.Errorf("part: %w", err)
	}
	return part, nil
}

func decodeTool(data []byte, depth int) (Part, error) {
	var form struct {
		ToolPart
		Content []contentForm   `json:"content"`
		Child   json.RawMessage `json:"child"`
	}
	if err := json.Unmarshal(data, &form); err != nil {
		return nil, fmt.Errorf("part: %w", err)
	}
	part := form.ToolPart
	for i, c := range form.Content {
		content, err := c.content()
		if err != nil {
			return nil, fmt.Errorf("tool call %q: content %d: %w", form.CallID, i, err)
		}
		part.Card.Content = append(part.Card.Content, content)
	}
	child, err := decodeChild(form.Child, depth)
	if err != nil {
		return nil, fmt.Errorf("tool call %q: %w", part.CallID, err)
	}
	part.Child = child
	return &part, nil
}

func partForm(p Part, depth int) (any, error) {
	switch p := p.(type) {
	case *TextPart:
		return present(p, textForm{textType, p})
	case *ReasoningPart:
		return present(p, reasoningForm{reasoningType, p})
	case *ImagePart:
		return present(p, imageForm{imageType, p})
	case *LinkPart:
		return present(p, linkForm{linkType, p})
	case *ResourcePart:
		return present(p, resourceForm{resourceType, p})
	case *ToolPart:
		if p == nil {
			return nil, errNoPart
		}
		content, err := contentForms(p.Card.Content)
		if err != nil {
			return nil, fmt.Errorf("tool call %q: %w", p.CallID, err)
		}
		child, err := childFormOf(p.Child, depth)
		if err != nil {
			return nil, fmt.Errorf("tool call %q: %w", p.CallID, err)
		}
		return toolForm{toolType, p, content, child}, nil
	case nil:
		return nil, errNoPart
	}
	return nil, fmt.Errorf("part: unknown type %T", p)
}

var errNoPart = errors.New("part: there is none")

// present returns form, or an error when its part is nil.
func present[T any](p *T, form any) (any, error) {
	if p == nil {
		return nil, errNoPart
	}
	return form, nil
}
