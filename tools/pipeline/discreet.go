package pipeline

import (
	"encoding/json"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"acp-agent/internal/redact"
	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// clean takes out of a text what neither the model nor the editor nor the store has a use
// for: the agent's own keys, and of what shows the configuration of a repository, the
// users and passwords in the addresses of remotes.
func (r *running) clean(text string) string {
	text = r.pipeline.Keys.Known(text)
	if r.remotes {
		text = redact.Addresses(text)
	}
	return text
}

// showsRemotes reports whether the call names a file that holds addresses of remotes. Other
// files are shown as they are, since what is edited has to match them.
func (r *running) showsRemotes() bool {
	return slices.ContainsFunc(r.resources(), func(resource tools.Resource) bool {
		if resource.Kind != tools.PathRead && resource.Kind != tools.PathWrite {
			return false
		}
		requested := r.env.Abs(resource.Value)
		return gitSettings(requested) || gitSettings(r.env.Resolve(requested))
	})
}

func gitSettings(path string) bool {
	parts := strings.Split(strings.ToLower(filepath.ToSlash(path)), "/")
	last := parts[len(parts)-1]
	return slices.Contains(parts, ".git") || last == ".gitconfig" || last == ".gitmodules"
}

// discreet cleans the end of a call, wherever the tool found what is taken out.
func (r *running) discreet(end transcript.ToolFinished) transcript.ToolFinished {
	if r.pipeline.Keys.Empty() && !r.remotes {
		return end
	}
	end.Text, end.Shown = r.clean(end.Text), r.clean(end.Shown)
	end.Card = r.discreetCard(end.Card)
	end.Result.Data = r.cleanJSON(end.Result.Data)
	end.Result.ErrorText = r.clean(end.Result.ErrorText)
	if detail := end.Result.Error; detail != nil {
		clean := *detail
		clean.AbsolutePath, clean.Type = r.clean(detail.AbsolutePath), r.clean(detail.Type)
		clean.Details = nil
		for name, value := range detail.Details {
			if clean.Details == nil {
				clean.Details = map[string]json.RawMessage{}
			}
			clean.Details[r.clean(name)] = r.cleanJSON(value)
		}
		end.Result.Error = &clean
	}
	end.Result.Metadata.TrackFiles = slices.Clone(end.Result.Metadata.TrackFiles)
	for i, path := range end.Result.Metadata.TrackFiles {
		end.Result.Metadata.TrackFiles[i] = r.clean(path)
	}
	end.Result.Metadata.Unseen = r.clean(end.Result.Metadata.Unseen)
	return end
}

// cleanJSON cleans a value. One that is JSON no more is dropped whole.
func (r *running) cleanJSON(data json.RawMessage) json.RawMessage {
	text := r.clean(string(data))
	switch {
	case text == string(data):
		return data
	case json.Valid([]byte(text)):
		return json.RawMessage(text)
	}
	return json.RawMessage(`"` + redact.Mask + `"`)
}

// discreetCard cleans what the editor shows.
func (r *running) discreetCard(card kinds.Card) kinds.Card {
	if r.pipeline.Keys.Empty() && !r.remotes {
		return card
	}
	card.Title = r.clean(card.Title)
	card.Content = slices.Clone(card.Content)
	for i, content := range card.Content {
		switch content := content.(type) {
		case kinds.Text:
			card.Content[i] = kinds.Text{Text: r.clean(content.Text)}
		case kinds.Diff:
			content.Path, content.New = r.clean(content.Path), r.clean(content.New)
			if content.Old != nil {
				old := r.clean(*content.Old)
				content.Old = &old
			}
			card.Content[i] = content
		}
	}
	card.Locations = slices.Clone(card.Locations)
	for i := range card.Locations {
		card.Locations[i].Path = r.clean(card.Locations[i].Path)
	}
	return card
}

// discreetOutput is the output of a running call on its way to the editor.
type discreetOutput struct {
	mu     sync.Mutex
	stream redact.Stream
}

// Progress implements tools.Runtime.
func (r *callRuntime) Progress(text []byte) {
	if r.shown.stream.Values.Empty() {
		r.Call.Progress(text)
		return
	}
	r.shown.mu.Lock()
	defer r.shown.mu.Unlock()
	r.Call.Progress([]byte(r.shown.stream.Next(string(text))))
}

// Finish ends the call, see workspace.Call, and shows what was held back.
func (r *callRuntime) Finish() {
	r.shown.mu.Lock()
	if rest := r.shown.stream.Rest(); rest != "" {
		r.Call.Progress([]byte(rest))
	}
	r.shown.mu.Unlock()
	r.Call.Finish()
}

// Sidecar implements tools.Runtime: what is kept of a long output has no keys either.
func (r *callRuntime) Sidecar() (tools.Sidecar, error) {
	sidecar, err := r.Call.Sidecar()
	if err != nil || r.shown.stream.Values.Empty() {
		return sidecar, err
	}
	return &discreetSidecar{Sidecar: sidecar, stream: redact.Stream{Values: r.shown.stream.Values}}, nil
}

// discreetWriter takes keys out of what a command prints.
type discreetWriter struct {
	io.Writer
	mu     sync.Mutex
	stream redact.Stream
}

// Write implements io.Writer. It reports the bytes that it was given as written.
func (w *discreetWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, err := io.WriteString(w.Writer, w.stream.Next(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// flush hands on what was held back, when the command has ended.
func (w *discreetWriter) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if rest := w.stream.Rest(); rest != "" {
		_, _ = io.WriteString(w.Writer, rest) // as with the rest of the output, nobody is left to be told
	}
}

type discreetSidecar struct {
	tools.Sidecar
	mu     sync.Mutex
	stream redact.Stream
}

// Write implements io.Writer. It reports the bytes that it was given as written.
func (s *discreetSidecar) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.Sidecar.Write([]byte(s.stream.Next(string(p)))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close writes what was held back.
func (s *discreetSidecar) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if rest := s.stream.Rest(); rest != "" {
		if _, err := s.Sidecar.Write([]byte(rest)); err != nil {
			_ = s.Sidecar.Close()
			return err
		}
	}
	return s.Sidecar.Close()
}
