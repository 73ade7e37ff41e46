package pipeline

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"acp-agent/internal/redact"
	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// redactor removes secrets from what a call shows.
type redactor struct {
	keys *redact.Values
	// remotes says that the call shows the configuration of a repository.
	remotes bool
}

// redact removes secrets that neither the model nor the editor nor the store needs: the agent's own
// keys, and where the call shows the configuration of a repository, users and passwords in the
// addresses of remotes.
func (c *redactor) redact(text string) string {
	text = c.keys.Known(text)
	if c.remotes {
		text = redact.Addresses(text)
	}
	return text
}

// showsRemotes reports whether the call names a file that holds addresses of remotes. Other files stay
// as they are, because an edit has to match their text.
func (s *sharedState) showsRemotes() bool {
	return slices.ContainsFunc(s.touched, func(resource tools.Resource) bool {
		if !isPath(resource) {
			return false
		}
		requested := s.env.Abs(resource.Value)
		return mayHoldRemotes(requested) || mayHoldRemotes(s.targets.at(requested, false).Real)
	})
}

// mayHoldRemotes reports whether a path is a file of git's configuration, or lies in a repository's own directory.
func mayHoldRemotes(path string) bool {
	parts := strings.Split(strings.ToLower(filepath.ToSlash(path)), "/")
	last := parts[len(parts)-1]
	return slices.Contains(parts, ".git") || last == ".gitconfig" || last == ".gitmodules"
}

// redactEnd removes secrets from all parts of the end of a call.
func (c *redactor) redactEnd(end transcript.ToolFinished) transcript.ToolFinished {
	if c.keys.Empty() && !c.remotes {
		return end
	}
	end.Text, end.Shown = c.redact(end.Text), c.redact(end.Shown)
	end.Card = c.redactCard(end.Card)
	end.Result.Data = c.redactJSON(end.Result.Data)
	end.Result.ErrorText = c.redact(end.Result.ErrorText)
	if detail := end.Result.Error; detail != nil {
		redacted := *detail
		redacted.AbsolutePath, redacted.Type = c.redact(detail.AbsolutePath), c.redact(detail.Type)
		redacted.Details = nil
		for name, value := range detail.Details {
			if redacted.Details == nil {
				redacted.Details = map[string]json.RawMessage{}
			}
			redacted.Details[c.redact(name)] = c.redactJSON(value)
		}
		end.Result.Error = &redacted
	}
	end.Result.Metadata.TrackFiles = slices.Clone(end.Result.Metadata.TrackFiles)
	for i, path := range end.Result.Metadata.TrackFiles {
		end.Result.Metadata.TrackFiles[i] = c.redact(path)
	}
	end.Result.Metadata.Unseen = c.redact(end.Result.Metadata.Unseen)
	return end
}

// redactJSON removes secrets from a value. A value that is not valid JSON afterwards is replaced as a whole.
func (c *redactor) redactJSON(data json.RawMessage) json.RawMessage {
	text := c.redact(string(data))
	switch {
	case text == string(data):
		return data
	case json.Valid([]byte(text)):
		return json.RawMessage(text)
	}
	return json.RawMessage(`"` + redact.Mask + `"`)
}

// redactCard removes secrets from what the editor shows.
func (c *redactor) redactCard(card kinds.Card) kinds.Card {
	if c.keys.Empty() && !c.remotes {
		return card
	}
	card.Title = c.redact(card.Title)
	card.Content = slices.Clone(card.Content)
	for i, content := range card.Content {
		switch content := content.(type) {
		case kinds.Text:
			card.Content[i] = kinds.Text{Text: c.redact(content.Text)}
		case kinds.Diff:
			content.Path, content.New = c.redact(content.Path), c.redact(content.New)
			if content.Old != nil {
				old := c.redact(*content.Old)
				content.Old = &old
			}
			card.Content[i] = content
		}
	}
	card.Locations = slices.Clone(card.Locations)
	for i := range card.Locations {
		card.Locations[i].Path = c.redact(card.Locations[i].Path)
	}
	return card
}
