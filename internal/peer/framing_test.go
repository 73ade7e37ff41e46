package peer

import (
	"bufio"
	"strings"
	"testing"
)

func TestReadHeaders(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in, body, err string
	}{
		{"plain", "Content-Length: 2\r\n\r\n{}", "{}", ""},
		{"other headers, any case", "content-length:2\r\nContent-Type: x\r\n\r\n{}rest", "{}", ""},
		{"noise before it", "hello\nworld: yes\n\nContent-Length: 2\r\n\r\n{}", "{}", ""},
		{"a long line before it", strings.Repeat("x", 10_000) + "\nContent-Length: 2\n\n{}", "{}", ""},
		{"too much noise", strings.Repeat("x\n", maxNoise), "", "something other than messages"},
		{"too large", "Content-Length: 16777217\r\n\r\n", "", "message of 16777217 bytes"},
		{"negative", "Content-Length: -1\r\n\r\n", "", "message of -1 bytes"},
		{"no number", "Content-Length: many\r\n\r\n", "", "message of many bytes"},
		{"cut", "Content-Length: 3\r\n\r\n{}", "", "unexpected EOF"},
		{"nothing", "", "", "EOF"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			body, err := readHeaders(bufio.NewReader(strings.NewReader(tt.in)))
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil || string(body) != tt.body {
				t.Errorf("got %q, %v; want %q", body, err, tt.body)
			}
		})
	}
}

// FuzzFraming holds that no stream breaks a reader, and that what it reads was sent.
func FuzzFraming(f *testing.F) {
	f.Add("Content-Length: 2\r\n\r\n{}")
	f.Add("noise\nContent-Length: 1\n\nx")
	f.Add("{\"id\": 1, \"result\": null}\nnoise\n")
	f.Fuzz(func(t *testing.T, in string) {
		body, err := readHeaders(bufio.NewReader(strings.NewReader(in)))
		if err == nil && !strings.Contains(in, string(body)) {
			t.Errorf("%q holds no %q", in, body)
		}
		for _, framing := range []Framing{Lines, Headers} {
			r := bufio.NewReader(strings.NewReader(in))
			for {
				m, ok, err := framing.read(r)
				if err != nil {
					break
				}
				if ok && m == nil {
					t.Error("no message")
				}
			}
		}
	})
}
