package transcript

import (
	"fmt"

	"acp-agent/kinds"
)

// contentForm is one block of a card as a JSON object; Type says which of the
// other fields count. Old is absent for a new file, and "" for an empty one.
type contentForm struct {
	Type      string  `json:"type"`
	Text      string  `json:"text,omitempty"`
	MediaType string  `json:"media_type,omitempty"`
	Data      string  `json:"data,omitempty"`
	Path      string  `json:"path,omitempty"`
	Old       *string `json:"old,omitempty"`
	New       string  `json:"new,omitempty"`
	ID        string  `json:"id,omitempty"`
}

// The values of "type" of contents that no part has.
const (
	diffType     = "diff"
	terminalType = "terminal"
)

func contentForms(contents []kinds.Content) ([]contentForm, error) {
	var forms []contentForm
	for i, content := range contents {
		switch c := content.(type) {
		case kinds.Text:
			forms = append(forms, contentForm{Type: textType, Text: c.Text})
		case kinds.Image:
			forms = append(forms, contentForm{Type: imageType, MediaType: c.MediaType, Data: c.Data})
		case kinds.Diff:
			forms = append(forms, contentForm{Type: diffType, Path: c.Path, Old: c.Old, New: c.New})
		case kinds.Terminal:
			forms = append(forms, contentForm{Type: terminalType, ID: c.ID})
		default:
			return nil, fmt.Errorf("content %d: unknown type %T", i, content)
		}
	}
	return forms, nil
}

func (f contentForm) content() (kinds.Content, error) {
	switch f.Type {
	case textType:
		return kinds.Text{Text: f.Text}, nil
	case imageType:
		return kinds.Image{MediaType: f.MediaType, Data: f.Data}, nil
	case diffType:
		return kinds.Diff{Path: f.Path, Old: f.Old, New: f.New}, nil
	case terminalType:
		return kinds.Terminal{ID: f.ID}, nil
	}
	return nil, fmt.Errorf("unknown type %q", f.Type)
}
