package redact_test

import (
	"errors"
	"strings"
	"testing"

	"acp-agent/internal/redact"
)

func TestWriter(t *testing.T) {
	var values redact.Values
	values.Add("secret-0123456789")
	for _, pieces := range [][]string{
		{"a secret-0123456789 b"},
		{"a sec", "ret-01234", "56789 b"},
		{"a secret-0123456789 ", "", "b"},
	} {
		var out strings.Builder
		w := redact.NewWriter(&out, redact.Stream{Values: &values})
		for _, piece := range pieces {
			if n, err := w.Write([]byte(piece)); n != len(piece) || err != nil {
				t.Fatalf("Write(%q) = %d, %v", piece, n, err)
			}
		}
		if err := w.Flush(); err != nil || out.String() != "a [redacted] b" {
			t.Errorf("%q: %q, %v", pieces, out.String(), err)
		}
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("broken") }

func TestWriter_Broken(t *testing.T) {
	var values redact.Values
	values.Add("secret-0123456789")
	w := redact.NewWriter(brokenWriter{}, redact.Stream{Values: &values})
	if _, err := w.Write([]byte("text")); err == nil {
		t.Error("an error of the writer is lost")
	}
	w = redact.NewWriter(brokenWriter{}, redact.Stream{})
	if err := w.Flush(); err != nil {
		t.Errorf("nothing was held back, and Flush returns %v", err)
	}
}
