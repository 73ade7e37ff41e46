package wire_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"acp-agent/model"
	"acp-agent/model/wire"
)

// failureCase is what a server was seen to answer, with its public source, and what it means.
type failureCase struct {
	Name, Source string
	// Status is that of the answer; Event says that the error came within a stream.
	Status int
	Event  bool
	Header map[string]string
	Body   string

	Kind string
	Busy bool
	Wait string
	Hint string // a part of the hint
}

func failureCases(t testing.TB) []failureCase { return casesOf(t, "testdata/failures.jsonl") }

func casesOf(t testing.TB, file string) []failureCase {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var cases []failureCase
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		var one failureCase
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, one)
	}
	return cases
}

func testServer(t testing.TB) *wire.Server {
	t.Helper()
	base, err := wire.ParseBase("https://models.example/v1")
	if err != nil {
		t.Fatal(err)
	}
	return &wire.Server{Base: base, Logger: slog.New(slog.DiscardHandler)}
}

// TestFailures holds that what real servers answer is waited for, or not, as they mean it
// (R140).
func TestFailures(t *testing.T) {
	kinds := map[string]model.ErrorKind{
		"transient": model.Transient, "overflow": model.Overflow, "auth": model.Auth, "invalid": model.Invalid,
	}
	s := testServer(t)
	for _, tt := range failureCases(t) {
		t.Run(tt.Name, func(t *testing.T) {
			header := http.Header{}
			for name, value := range tt.Header {
				header.Set(name, value)
			}
			e := s.StatusError(tt.Status, header, []byte(tt.Body))
			if tt.Event {
				e = s.EventError([]byte(tt.Body))
			}
			if e.Kind != kinds[tt.Kind] || e.Busy != tt.Busy || !strings.Contains(e.Hint, tt.Hint) {
				t.Errorf("got kind %d, busy %t, hint %q\nwant %s, %t, %q\n%s", e.Kind, e.Busy, e.Hint, tt.Kind, tt.Busy, tt.Hint, e.Message)
			}
			if want, _ := time.ParseDuration(tt.Wait); e.RetryAfter != want {
				t.Errorf("asks to wait %v, want %v", e.RetryAfter, want)
			}
		})
	}
}

func FuzzStatusError(f *testing.F) {
	for _, one := range failureCases(f) {
		f.Add(one.Status, "", one.Body)
	}
	f.Add(429, "1e300", "try again in 99999999999999999999h")
	s := testServer(f)
	f.Fuzz(func(t *testing.T, status int, after, body string) {
		for _, e := range []*model.Error{
			s.StatusError(status, http.Header{"Retry-After": {after}}, []byte(body)), s.EventError([]byte(body)),
		} {
			if e.RetryAfter < 0 || e.RetryAfter > 24*time.Hour {
				t.Errorf("asks to wait %v", e.RetryAfter)
			}
			if e.Busy && e.Kind != model.Transient {
				t.Errorf("busy, and of kind %d", e.Kind)
			}
		}
	})
}
