package network_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"acp-agent/internal/network"
)

// packed is text in a content coding.
func packed(t *testing.T, coding string, body []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	switch coding {
	case "gzip":
		w = gzip.NewWriter(&b)
	case "zlib":
		w = zlib.NewWriter(&b)
	case "flate":
		w, _ = flate.NewWriter(&b, flate.BestCompression) // the level is valid
	default:
		return body
	}
	if _, err := w.Write(body); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestClient_Bodies(t *testing.T) {
	t.Parallel()
	text := []byte(strings.Repeat("0123456789", 100))
	tests := []struct {
		name, coding string
		body         []byte
		most         int64
		want         string
		cut          bool
	}{
		{"plain", "", text, 0, string(text), false},
		{"exactly the limit", "", text, 1000, string(text), false},
		{"one over the limit", "", text, 999, string(text[:999]), true},
		{"identity", "identity", text, 0, string(text), false},
		{"gzip", "gzip", packed(t, "gzip", text), 0, string(text), false},
		{"gzip in capitals", "X-GZIP", packed(t, "gzip", text), 0, string(text), false},
		{"gzip exactly the limit", "gzip", packed(t, "gzip", text), 1000, string(text), false},
		{"gzip over the limit", "gzip", packed(t, "gzip", text), 10, "0123456789", true},
		{"deflate", "deflate", packed(t, "zlib", text), 0, string(text), false},
		{"bare deflate", "deflate", packed(t, "flate", text), 0, string(text), false},
		{"nothing", "", nil, 0, "", false},
		{"nothing in gzip", "gzip", nil, 0, "", false},
		{"nothing in deflate", "deflate", nil, 0, "", false},
		{"gzip of nothing", "gzip", packed(t, "gzip", nil), 0, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, coded(tt.coding, tt.body))
			c := client(t, network.Options{Grants: []string{s.pair()}})
			got, err := c.Do(t.Context(), network.Request{URL: s.URL, MaxBytes: tt.most})
			if err != nil || string(got.Body) != tt.want || got.Cut != tt.cut {
				t.Errorf("Do = %+v, %v; want body %q, cut %t", got, err, tt.want, tt.cut)
			}
		})
	}
}

func coded(coding string, body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if coding != "" {
			w.Header().Set("Content-Encoding", coding)
		}
		_, _ = w.Write(body) // the client may hang up
	}
}

func TestClient_BrokenBodies(t *testing.T) {
	t.Parallel()
	whole := packed(t, "gzip", []byte(strings.Repeat("0123456789", 100)))
	tests := []struct{ name, coding, body string }{
		{"cut short", "gzip", string(whole[:len(whole)-9])},
		{"no gzip", "gzip", "hello, this is text"},
		{"no deflate", "deflate", "\xff\xff\xff\xff"},
		{"a coding that was not asked for", "br", "x"},
		{"codings in layers", "gzip, gzip", string(packed(t, "gzip", whole))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, coded(tt.coding, []byte(tt.body)))
			c := client(t, network.Options{Grants: []string{s.pair()}})
			if got, err := c.Do(t.Context(), network.Request{URL: s.URL}); err == nil {
				t.Errorf("Do = %+v, want an error", got)
			}
		})
	}
}

// endless writes until the client hangs up, and counts in MiB.
func endless(w io.Writer, chunk []byte, written *int) {
	for *written = 0; *written < 1<<10; *written++ {
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
}

func TestClient_EndlessBody(t *testing.T) {
	t.Parallel()
	chunk := bytes.Repeat([]byte("a"), 1<<20)
	written, done := 0, make(chan struct{})
	s := newSite(t, func(w http.ResponseWriter, _ *http.Request) {
		defer close(done)
		endless(w, chunk, &written)
	})
	c := client(t, network.Options{Grants: []string{s.pair()}, Timeout: time.Minute})
	got, err := c.Do(t.Context(), network.Request{URL: s.URL})
	if err != nil || len(got.Body) != network.MaxBytes || !got.Cut {
		t.Fatalf("Do: %d bytes, cut %t, %v", len(got.Body), got.Cut, err)
	}
	<-done
	if written > 100 {
		t.Errorf("the server could send %d MiB", written)
	}
}

// A gigabyte in a megabyte: only what was asked for is unpacked.
func TestClient_Bomb(t *testing.T) {
	t.Parallel()
	for _, coding := range []string{"gzip", "deflate"} {
		s := newSite(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", coding)
			packer := io.WriteCloser(zlib.NewWriter(w))
			if coding == "gzip" {
				packer = gzip.NewWriter(w)
			}
			written := 0
			endless(packer, make([]byte, 1<<20), &written)
		})
		c := client(t, network.Options{Grants: []string{s.pair()}, Timeout: time.Minute})
		got, err := c.Do(t.Context(), network.Request{URL: s.URL, MaxBytes: 1 << 20})
		if err != nil || len(got.Body) != 1<<20 || !got.Cut {
			t.Errorf("%s: %d bytes, cut %t, %v", coding, len(got.Body), got.Cut, err)
		}
	}
}

// A coding that never yields anything ends with what may come in.
func TestClient_EndlessCoding(t *testing.T) {
	t.Parallel()
	empty := bytes.Repeat(packed(t, "gzip", nil), 40_000)
	s := newSite(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		written := 0
		endless(w, empty, &written)
	})
	c := client(t, network.Options{Grants: []string{s.pair()}, Timeout: time.Minute})
	got, err := c.Do(t.Context(), network.Request{URL: s.URL})
	if err != nil || len(got.Body) != 0 || !got.Cut {
		t.Errorf("Do = %+v, %v; want an empty body that was cut", got, err)
	}
}

func TestClient_TooSlow(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		before func(w http.ResponseWriter)
	}{
		{"header", func(http.ResponseWriter) {}},
		{"body", func(w http.ResponseWriter) {
			fmt.Fprint(w, "the start")
			w.(http.Flusher).Flush()
		}},
		{"body to be unpacked", func(w http.ResponseWriter) {
			w.Header().Set("Content-Encoding", "gzip")
			w.(http.Flusher).Flush()
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
				tt.before(w)
				<-r.Context().Done()
			})
			c := client(t, network.Options{Grants: []string{s.pair()}, Timeout: 50 * time.Millisecond})
			_, err := c.Do(t.Context(), network.Request{URL: s.URL})
			if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "no complete answer within 50ms") {
				t.Errorf("error = %v", err)
			}
		})
	}
}

// The time limit is for all hops together.
func TestClient_TooSlowInAll(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(40 * time.Millisecond):
			leading(http.StatusFound, "/")(w, r)
		case <-r.Context().Done():
		}
	})
	c := client(t, network.Options{Grants: []string{s.pair()}, Timeout: 100 * time.Millisecond})
	if _, err := c.Do(t.Context(), network.Request{URL: s.URL}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error = %v", err)
	}
}

func TestClient_EndlessHeader(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Long", strings.Repeat("a", 1<<20))
	})
	c := client(t, network.Options{Grants: []string{s.pair()}, Timeout: time.Minute})
	if got, err := c.Do(t.Context(), network.Request{URL: s.URL}); err == nil {
		t.Errorf("Do = %+v, want an error", got)
	}
}
