package wire_test

import (
	"net/http"
	"strings"
	"testing"

	"acp-agent/model"
	"acp-agent/model/wire"
)

// TestOverflow holds that a request that is too long is known as such whatever server says
// so, and that what only sounds like it is not. Each row has the words of its source; where
// that has no more than the words, their shape is OpenAI's.
func TestOverflow(t *testing.T) {
	kinds := map[string]model.ErrorKind{
		"transient": model.Transient, "overflow": model.Overflow, "auth": model.Auth, "invalid": model.Invalid,
	}
	s, rows := testServer(t), casesOf(t, "testdata/overflow.jsonl")
	if len(rows) < 50 {
		t.Fatalf("the table has %d rows", len(rows))
	}
	for _, tt := range rows {
		t.Run(tt.Name, func(t *testing.T) {
			if !strings.HasPrefix(tt.Source, "https://github.com/") {
				t.Errorf("the row has no source: %q", tt.Source)
			}
			e := s.StatusError(tt.Status, http.Header{}, []byte(tt.Body))
			if tt.Event {
				e = s.EventError([]byte(tt.Body))
			}
			if e.Kind != kinds[tt.Kind] {
				t.Errorf("got kind %d, want %s: %s", e.Kind, tt.Kind, e.Message)
			}
		})
	}
}

func TestWindowFull(t *testing.T) {
	for reason, want := range map[string]bool{
		"model_context_window_exceeded": true, "model_length": true, "MODEL_LENGTH": true, "length": false, "max_tokens": false, "": false,
	} {
		if got := wire.WindowFull(reason); got != want {
			t.Errorf("WindowFull(%q) = %t", reason, got)
		}
	}
}
