package webpage_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/webpage"
)

const at = "https://example.com/docs/page?x=y"

func convert(t *testing.T, body, contentType string) webpage.Page {
	t.Helper()
	page, err := webpage.Convert(t.Context(), []byte(body), contentType, at)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

func TestConvert_HTML(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, html, title, want string }{
		{"title", "<title> A\n title </title><p>text", "A title", "text"},
		{"first title", "<title>A</title><svg><title>B</title></svg><p>text", "A", "text"},
		{"structure", "<h2>Head</h2><p>one <b>two</b> <code>three</code><ul><li>a<li>b</ul>", "", "## Head\n\none **two** `three`\n\n- a\n- b"},
		{"code", "<pre><code>a\n  b &lt;c&gt;</code></pre>", "", "```\na\n  b <c>\n```"},
		{"code with a language", "<pre><code class=language-go>a</code></pre><pre>b</pre><code class=x>c</code>", "", "```go\na\n```\n\n```\nb\n```\n\n`c`"},
		{"table", "<table><tr><th>A<th>B<tr><td>1<td>2</table>", "", "| A | B |\n|---|---|\n| 1 | 2 |"},
		{
			"left out", "<p>a<script>b</script><style>c</style><noscript>d</noscript><iframe>e</iframe><svg><text>f</text></svg>" +
				"<template>g</template><!-- h --><object>i</object>z", "", "az",
		},
		{
			"links", `<a href="a">1</a> <a href="/a">2</a> <a href="//b.example/a">3</a> <a href="?q">4</a> <a href="#f">5</a> <a href="https://c.example">6</a>`, "",
			"[1](https://example.com/docs/a) [2](https://example.com/a) [3](https://b.example/a) [4](https://example.com/docs/page?q) " +
				"[5](https://example.com/docs/page?x=y#f) [6](https://c.example)",
		},
		{"base", `<base href="/other/"><a href="a">1</a>`, "", "[1](https://example.com/other/a)"},
		{"links to no page", `<a href="javascript:x()">1</a> <a href="data:text/html,x">2</a> <a href="http://%zz">3</a>`, "", "1 2 3"},
		{"pictures", `<img src="a.png" alt="A"> <img src="data:image/png;base64,AAAA" alt="B">`, "", "![A](https://example.com/docs/a.png)"},
		{"control characters", "a&#1;b\x02c&#133;d", "", "abc…d"},
		{"hidden characters", "a\U000E0041\U000E0042b\u202ec\u2066d", "", "abcd"},
		{"nothing", "", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := convert(t, tt.html, "text/html; charset=utf-8")
			if diff := cmp.Diff(webpage.Page{Title: tt.title, Text: tt.want}, got); diff != "" {
				t.Errorf("page (-want +got):\n%s", diff)
			}
		})
	}
}

// What the parser refuses is read as plain text.
func TestConvert_TooDeep(t *testing.T) {
	t.Parallel()
	got := convert(t, "<title>A &amp; B</title><style>no</style>"+strings.Repeat("<div>", 600)+"one <b>two</b>\n&lt;three<p>\n\n<p>four<script>no", "text/html")
	if diff := cmp.Diff(webpage.Page{Title: "A & B", Text: "one two\n<three\n\nfour"}, got); diff != "" {
		t.Errorf("page (-want +got):\n%s", diff)
	}
}

func TestConvert_Text(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, body, contentType, want string }{
		{"plain", "a\n\tb\n", "text/plain", "a\n\tb\n"},
		{"plain that looks like HTML", "<html>", "text/plain", "<html>"},
		{"JSON", `{"a": "<html>"}`, "application/json; charset=utf-8", `{"a": "<html>"}`},
		{"JSON of a kind", `{}`, "application/ld+json", `{}`},
		{"XML", "<?xml version='1.0'?><a/>", "application/xml", "<?xml version='1.0'?><a/>"},
		{"feed", "<rss/>", "application/rss+xml", "<rss/>"},
		{"drawing", "<svg/>", "image/svg+xml", "<svg/>"},
		{"Markdown", "# a <b>", "text/markdown", "# a <b>"},
		{"script", "let a", "application/javascript", "let a"},
		{"no type", "just text", "", "just text"},
		{"broken type", "just text", "text", "just text"},
		{"general type", "just text", "application/octet-stream", "just text"},
		{"HTML without a type", "\n<!DOCTYPE html><p>a", "", "a"},
		{"HTML by another type", "<html><p>a", "application/octet-stream", "a"},
		{"XHTML", "<html><p>a</p></html>", "application/xhtml+xml", "a"},
		{"line ends", "a\r\nb\rc\fd", "text/plain", "a\nb\nc\nd"},
		{"escape sequences", "a\x1b[31mb\x07\x7f", "text/plain", "a[31mb"},
		{"mark of byte order", "\xef\xbb\xbfa", "text/plain", "a"},
		{"said to be Latin", "caf\xe9", "text/plain; charset=iso-8859-1", "café"},
		{"Latin, not said", "caf\xe9", "text/plain", "café"},
		{"Latin by a tag", "<meta charset=iso-8859-2><p>\xb3", "text/html", "ł"},
		{"late UTF-8, not said", strings.Repeat("a", 2000) + "é", "text/plain", strings.Repeat("a", 2000) + "é"},
		{"UTF-8 with another tag", "<meta charset=iso-8859-1><p>é", "text/html", "é"},
		{"Japanese", "\x83\x65\x83\x58\x83\x67", "text/plain; charset=shift_jis", "テスト"},
		{"wide", "\xff\xfea\x00\xe9\x00", "text/plain", "aé"},
		{"wide, said", "\x00a\x00\xe9", "text/plain; charset=utf-16be", "aé"},
		{"not what it is said to be", "a\xffb", "text/plain; charset=utf-8", "a\ufffdb"},
		{"encoding that no one knows", "a", "text/plain; charset=nothing", "a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(webpage.Page{Text: tt.want}, convert(t, tt.body, tt.contentType)); diff != "" {
				t.Errorf("page (-want +got):\n%s", diff)
			}
		})
	}
}

func TestConvert_NoText(t *testing.T) {
	t.Parallel()
	const png = "\x89PNG\r\n\x1a\n..."
	tests := []struct {
		name, body, contentType string
		want                    webpage.Page
	}{
		{"PNG", png, "text/html", webpage.Page{MediaType: "image/png", Image: []byte(png)}},
		{"JPEG", "\xff\xd8\xff\xe0", "", webpage.Page{MediaType: "image/jpeg", Image: []byte("\xff\xd8\xff\xe0")}},
		{"GIF", "GIF87a", "image/png", webpage.Page{MediaType: "image/gif", Image: []byte("GIF87a")}},
		{"picture of another kind", "RIFF\x00WEBP", "image/webp", webpage.Page{Descriptor: "image/webp, 9 bytes, which cannot be shown as text"}},
		{"no picture after all", "<html>", "image/png", webpage.Page{Descriptor: "image/png, 6 bytes, which cannot be shown as text"}},
		{"archive", "PK\x03\x04", "application/zip", webpage.Page{Descriptor: "application/zip, 4 bytes, which cannot be shown as text"}},
		{"binary as text", "a\x00b", "text/plain", webpage.Page{Descriptor: "application/octet-stream, 3 bytes, which cannot be shown as text"}},
		{"binary as HTML", "\x7fELF\x00", "text/html", webpage.Page{Descriptor: "application/octet-stream, 5 bytes, which cannot be shown as text"}},
		{"type that is none", "\x00", "a/b\x1b[2J\nc", webpage.Page{Descriptor: "application/octet-stream, 1 bytes, which cannot be shown as text"}},
		{"PDF", "%PDF-1.7\n1 0 obj\x00", "text/html", webpage.Page{Descriptor: "application/pdf, 17 bytes, which cannot be shown as text"}},
		{
			"PDF with a page tree", "%PDF-1.4\n<< /Type /Pages /Kids [2 0 R] /Count 2 >>\n<</Count 12/Type/Pages>>", "",
			webpage.Page{Descriptor: "application/pdf, 12 pages, 75 bytes, which cannot be shown as text"},
		},
		{
			"PDF for the web", "%PDF-1.5\n<</Linearized 1/L 9/O 4/N 7/T 1>><</Type/Pages/Count 3>>", "application/pdf",
			webpage.Page{Descriptor: "application/pdf, 7 pages, 65 bytes, which cannot be shown as text"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, convert(t, tt.body, tt.contentType)); diff != "" {
				t.Errorf("page (-want +got):\n%s", diff)
			}
		})
	}
}

func TestConvert_TooLarge(t *testing.T) {
	t.Parallel()
	const most = 5 << 20
	page := convert(t, strings.Repeat("é", most), "text/plain")
	if n := len(page.Text); n < most-3 || n > most+3 || !strings.HasPrefix(page.Text, "éé") {
		t.Errorf("%d bytes of text, want about %d", n, most)
	}
	page = convert(t, "GIF89a"+strings.Repeat("a", most), "")
	if page.Image != nil || !strings.HasPrefix(page.Descriptor, "image/gif, 5242886 bytes") {
		t.Errorf("large picture: %d bytes, %q", len(page.Image), page.Descriptor)
	}
}

func TestConvert_Cancelled(t *testing.T) {
	t.Parallel()
	stopped := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stopped)
	for _, html := range []string{"<p>a", strings.Repeat("<div>", 600)} {
		if page, err := webpage.Convert(ctx, []byte(html), "text/html", at); !errors.Is(err, stopped) {
			t.Errorf("Convert = %+v, %v; want the cause", page, err)
		}
	}
}

func FuzzConvert(f *testing.F) {
	for _, seed := range []string{
		"<title>a</title><h1>b</h1><p>c <a href=d>e</a><table><tr><th>f<td>g</table>", "<ul><li><blockquote><pre>\n`a`</ul>",
		"<table><tr><td><table><tr><td colspan=9 rowspan=9>a\nb", "<b><p><i></b>a<svg><title>b</svg><select><option>c", "\xff\xfea\x00",
		"<meta charset=utf-16le><base href=//x><img src=a alt='*_[]'>", "%PDF-1 /Type/Pages/Count 3", "{\"a\":\"\\u0000\"}",
	} {
		f.Add([]byte(seed), "text/html")
		f.Add([]byte(seed), "text/plain; charset=utf-16")
		f.Add([]byte(seed), "")
	}
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		page, err := webpage.Convert(t.Context(), body, contentType, at)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{page.Title, page.Text, page.Descriptor} {
			if !utf8.ValidString(text) {
				t.Fatalf("%q is no UTF-8", text)
			}
			if i := strings.IndexFunc(text, func(r rune) bool { return r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f }); i >= 0 {
				t.Fatalf("control character at %d of %q", i, text)
			}
		}
		if strings.ContainsAny(page.Title+page.Descriptor, "\n\t") {
			t.Fatalf("title %q, descriptor %q: more than a line", page.Title, page.Descriptor)
		}
		if most := 40*len(body) + 4096; len(page.Text) > most {
			t.Fatalf("%d bytes of text from %d", len(page.Text), len(body))
		}
		if page.Image != nil && (page.MediaType == "" || page.Text != "") {
			t.Fatalf("picture: %+v", page)
		}
	})
}
