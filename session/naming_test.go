package session

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"acp-agent/transcript"
)

func titles(events []transcript.Event) (list []string) {
	for _, e := range events {
		if title, ok := e.(transcript.TitleChanged); ok {
			list = append(list, title.Title)
		}
	}
	return list
}

func TestNaming(t *testing.T) {
	text := func(s string) *transcript.Message {
		return &transcript.Message{Parts: []transcript.Part{&transcript.TextPart{Text: s}}}
	}
	tests := []struct {
		name     string
		generate func(context.Context) (string, error)
		want     []string
	}{
		{name: "no model for titles", want: []string{"Fix the build"}},
		{
			name:     "a model",
			generate: func(context.Context) (string, error) { return "\"Build repair\"\nand more", nil },
			want:     []string{"Fix the build", "Build repair"},
		},
		{
			name:     "a model that fails",
			generate: func(context.Context) (string, error) { return "", errors.New("no server") },
			want:     []string{"Fix the build"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, events := newTestConversation()
			life := newLifetime(t.Context(), nil)
			n := &naming{namingOptions: namingOptions{
				life: life, emit: c.emit, generate: tt.generate,
				clean: func(s string) string { return s }, logger: slog.New(slog.DiscardHandler),
			}}
			n.fromPrompt(text(" \n"))
			n.fromPrompt(text("\nFix the build\nplease"))
			n.fromPrompt(text("Another"))
			turn := &Turn{released: make(chan struct{})}
			close(turn.released)
			n.afterTurn(turn)
			n.afterTurn(turn)
			life.wait()
			life.end(ErrClosed)
			if got := titles(*events); len(got) != len(tt.want) || got[len(got)-1] != tt.want[len(tt.want)-1] {
				t.Errorf("titles = %q, want %q", got, tt.want)
			}
		})
	}
}
