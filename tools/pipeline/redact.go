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

// cleaner removes secrets from what a call shows.
type cleaner struct {
	keys *redact.Values
	// remotes says that the call shows the configuration of a repository.
	remotes bool
}

// clean removes secrets that neither the model nor the editor nor the store needs: the agent's own
// keys, and where the call shows the configuration of a repository, users and passwords in the
// addresses of remotes.
func (c *cleaner) clean(text string) string {
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

// redacted removes secrets from all parts of the end of a call.
func (c *cleaner) redacted(end transcript.ToolFinished) transcript.ToolFinished {
	if c.keys.Empty() && !c.remotes {
		return end
	}
	end.Text, end.Shown = c.clean(end.Text), c.clean(end.Shown)
	end.Card = c.redactedCard(end.Card)
	end.Result.Data = c.cleanJSON(end.Result.Data)
	end.Result.ErrorText = c.clean(end.Result.ErrorText)
	if detail := end.Result.Error; detail != nil {
		clean := *detail
		clean.AbsolutePath, clean.Type = c.clean(detail.AbsolutePath), c.clean(detail.Type)
		clean.Details = nil
		for name, value := range detail.Details {
			if clean.Details == nil {
				clean.Details = map[string]json.RawMessage{}
			}
			clean.Details[c.clean(name)] = c.cleanJSON(value)
		}
		end.Result.Error = &clean
	}
	end.Result.Metadata.TrackFiles = slices.Clone(end.Result.Metadata.TrackFiles)
	for i, path := range end.Result.Metadata.TrackFiles {
		end.Result.Metadata.TrackFiles[i] = c.clean(path)
	}
	end.Result.Metadata.Unseen = c.clean(end.Result.Metadata.Unseen)
	return end
}

// cleanJSON cleans a value. A value that is not valid JSON afterwards is replaced as a whole.
func (c *cleaner) cleanJSON(data json.RawMessage) json.RawMessage {
	text := c.clean(string(data))
	switch {
	case text == string(data):
		return data
	case json.Valid([]byte(text)):
		return json.RawMessage(text)
	}
	return json.RawMessage(`"` + redact.Mask + `"`)
}

// redactedCard removes secrets from what the editor shows.
func (c *cleaner) redactedCard(card kinds.Card) kinds.Card {
	if c.keys.Empty() && !c.remotes {
		return card
	}
	card.Title = c.clean(card.Title)
	card.Content = slices.Clone(card.Content)
	for i, content := range card.Content {
		switch content := content.(type) {
		case kinds.Text:
			card.Content[i] = kinds.Text{Text: c.clean(content.Text)}
		case kinds.Diff:
			content.Path, content.New = c.clean(content.Path), c.clean(content.New)
			if content.Old != nil {
				old := c.clean(*content.Old)
				content.Old = &old
			}
			card.Content[i] = content
		}
	}
	card.Locations = slices.Clone(card.Locations)
	for i := range card.Locations {
		card.Locations[i].Path = c.clean(card.Locations[i].Path)
	}
	return card
}
