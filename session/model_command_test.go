package session

import (
	"errors"
	"strings"
	"testing"

	"acp-agent/transcript"
)

// /model takes what names one model only, and tells the client when another one is chosen.
func TestModelCommand(t *testing.T) {
	options := []Option{{ID: ModeOption}, {ID: ModelOption, Current: "big-2", Values: []Value{
		{ID: "big-1", Name: "The Big One"}, {ID: "big-2", Name: "big-2"}, {ID: "small", Name: "small"}, {ID: "away", Name: "away"},
	}}}
	for _, tt := range []struct{ typed, set, says string }{
		{"", "", "- `big-2` (in use)"},
		{"sma", "small", "The model is `small` from your next message on."},
		{"the big one", "big-1", "The model is `big-1`"},
		{"big", "", "There is no model `big` here."},
		{"big-2", "", "The model is `big-2` already."},
		{"away", "away", "The model stays as it is: it is gone."},
	} {
		set, told := "", 0
		text := modelCommand(options, func(option, value string) error {
			set = value
			if option != ModelOption || value == "away" {
				return errors.New("it is gone")
			}
			return nil
		}, func(transcript.Event) { told++ }, tt.typed)
		if set != tt.set || !strings.Contains(text, tt.says) {
			t.Errorf("/model %s set %q and says %q", tt.typed, set, text)
		}
		if changed := strings.Contains(text, "from your next message on"); changed != (told == 1) {
			t.Errorf("/model %s told the client %d times", tt.typed, told)
		}
	}
}
