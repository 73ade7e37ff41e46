package websearch_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/websearch"
)

func TestPlain(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 600)
	tests := []struct{ name, text, want string }{
		{"highlights", "a<strong class=\"x\">b</strong>c", "abc"},
		{"lines", "one<br/>two<p>three</p>\n\tfour", "one two three four"},
		{"entities after tags", "List&lt;T&gt; &amp; &#39;x&#39;", "List<T> & 'x'"},
		{"an escaped tag is text", "&lt;b&gt;", "<b>"},
		{"no tag", "a < b > c, Vec<u8>", "a < b > c, Vec<u8>"},
		{"controls", "a\x1b[31m\x00\u202eb\u200b\ufeff", "a[31mb"},
		{"not UTF-8", "a\xffb", "ab"},
		{"long", long, strings.Repeat("ä", 499) + "…"},
		{"endless", strings.Repeat("<br>", 1<<20), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, websearch.Plain(tt.text)); diff != "" {
				t.Errorf("plain text (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCollect(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		urls []string
		want []string
	}{
		{"other schemes", []string{"javascript:alert(1)", "ftp://a.example/", "file:///etc/passwd", "//a.example", "", "https:a"}, nil},
		{"userinfo", []string{"https://go.dev@evil.example/"}, nil},
		{"hidden characters", []string{"https://a.example/?q=\u202e", "https://a\u200b.example/"}, nil},
		{"too long", []string{"https://a.example/" + strings.Repeat("x", 2048)}, nil},
		{"one page", []string{"https://a.example/x/", "http://A.example/x", "https://a.example/x#y", "https://a.example/x?z"}, []string{"https://a.example/x/", "https://a.example/x?z"}},
		{"escaped", []string{" https://a.example/a b "}, []string{"https://a.example/a%20b"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, r := range websearch.Collect(20, tt.urls...) {
				got = append(got, r.URL)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("addresses (-want +got):\n%s", diff)
			}
		})
	}
	var many []string
	for i := range 30 {
		many = append(many, "https://a.example/"+strings.Repeat("x", i+1))
	}
	for limit, want := range map[int]int{-1: 1, 0: 1, 7: 7, 20: 20, 100: 20} {
		if got := len(websearch.Collect(limit, many...)); got != want {
			t.Errorf("limit %d gave %d results, want %d", limit, got, want)
		}
	}
}

// Whatever a provider says, results are short, visible, and pages on the web.
func FuzzResults(f *testing.F) {
	f.Add("<b>t</b>", "https://go.dev/", "a &lt;b&gt; \u202e")
	f.Add("\xff", "http://[::1]:80/%zz", strings.Repeat("<p>", 999))
	f.Fuzz(func(t *testing.T, title, address, snippet string) {
		for _, r := range websearch.CollectOne(title, address, snippet) {
			u, err := url.Parse(r.URL)
			if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || len(r.URL) > 2048 {
				t.Errorf("address %q: %v", r.URL, err)
			}
			for text, limit := range map[string]int{r.Title: 200, r.Snippet: 500} {
				if utf8.RuneCountInString(text) > limit || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
					t.Errorf("text %q", text)
				}
			}
			if _, err := json.Marshal(r); err != nil {
				t.Error(err)
			}
		}
	})
}
