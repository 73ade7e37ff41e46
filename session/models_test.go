package session

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"acp-agent/model/script"
	"acp-agent/transcript"
)

func newTestModels(t *testing.T, check func(string) error) *models {
	t.Helper()
	loaded, err := script.Load("test", strings.NewReader(`{"say":"done"}`))
	if err != nil {
		t.Fatal(err)
	}
	life, catalogue := newLifetime(t.Context(), nil), &modelCatalogue{}
	t.Cleanup(func() {
		life.end(ErrClosed)
		life.wait()
		catalogue.background.close()
	})
	emit := func(transcript.Event) {}
	return newModels(modelOptions{life: life, catalogue: catalogue, emit: emit, warn: func(string) {}},
		Backend{Provider: loaded.Provider(script.Options{}), Model: "script", ThoughtLevel: "high", Check: check})
}

// A session goes on with the model that was chosen in it, unless the server cannot use that any
// more.
func TestModels_Restore(t *testing.T) {
	for _, tt := range []struct{ stored, want, thought string }{
		{"", "script", "high"},
		{"other", "other", "low"},
		{"gone", "script", "high"},
	} {
		m := newTestModels(t, func(id string) error {
			if id == "gone" {
				return errors.New("there is no such model")
			}
			return nil
		})
		m.restore(tt.stored, "low")
		if id, thought := m.get(); id != tt.want || thought != tt.thought {
			t.Errorf("stored %q: the model is %s, thinking %s", tt.stored, id, thought)
		}
	}
}

// The list has the configured model, the chosen one and the one that was named, each once. A level of
// thinking that the chosen model does not know is dropped.
func TestModels_Choose(t *testing.T) {
	m := newTestModels(t, nil)
	m.admit("named")
	m.choose("chosen")
	var ids []string
	for _, value := range m.options()[0].Values {
		ids = append(ids, value.ID)
	}
	if want := []string{"script", "chosen", "named"}; !slices.Equal(ids, want) {
		t.Errorf("the models are %q, want %q", ids, want)
	}
	if id, thought := m.get(); id != "chosen" || thought != "" {
		t.Errorf("the model is %s, thinking %q", id, thought)
	}
	m.setThought(defaultThought)
	if _, thought := m.get(); thought != "" {
		t.Errorf("the default of thinking is %q", thought)
	}
}
