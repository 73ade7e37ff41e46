package webpage

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"acp-agent/internal/textcut"
)

// maxInput bounds what is read of a body, in bytes.
const maxInput = 5 << 20

// Page is what a body says.
type Page struct {
	// Title is of an HTML page, in one line; it may be empty.
	Title string
	// Text is Markdown of an HTML page, other text as it is.
	Text string
	// MediaType and Image are of a picture that a model can look at: PNG, JPEG
	// or GIF.
	MediaType string
	Image     []byte
	// Descriptor says in a line what a body is that cannot be shown as text.
	Descriptor string
}

// Convert reads a body. contentType is the header as it was sent, url where the
// page is, by which its links become absolute. What is beyond 5 MiB is not read.
// The error is that of ctx.
func Convert(ctx context.Context, body []byte, contentType, url string) (Page, error) {
	whole := len(body)
	if whole > maxInput {
		body = textcut.Whole(body[:maxInput])
	}
	switch k := kindOf(body, contentType); k.form {
	case formImage:
		if whole > maxInput {
			return Page{Descriptor: describe(k.name, whole) + ", too large to show"}, nil
		}
		return Page{MediaType: k.name, Image: body}, nil
	case formHTML:
		return convertHTML(ctx, decode(body, contentType), url)
	case formText:
		return Page{Text: clean(decode(body, contentType))}, ctx.Err()
	case formPDF:
		line, err := describePDF(ctx, body, whole)
		return Page{Descriptor: line}, err
	default:
		return Page{Descriptor: describe(k.name, whole)}, nil
	}
}

// describe is the line for a body that is not text.
func describe(name string, size int) string {
	return fmt.Sprintf("%s, %d bytes, which cannot be shown as text", name, size)
}

// form is how a body is treated.
type form int

const (
	formBinary form = iota
	formText
	formHTML
	formImage
	formPDF
)

// kind is a form and its name, a media type.
type kind struct {
	form form
	name string
}

// kindOf judges by the first bytes where they are plain, then by the header.
func kindOf(body []byte, contentType string) kind {
	head := body[:min(len(body), 8192)]
	switch {
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")):
		return kind{formImage, "image/png"}
	case bytes.HasPrefix(head, []byte("\xff\xd8\xff")):
		return kind{formImage, "image/jpeg"}
	case bytes.HasPrefix(head, []byte("GIF87a")), bytes.HasPrefix(head, []byte("GIF89a")):
		return kind{formImage, "image/gif"}
	case bytes.HasPrefix(bytes.TrimLeft(head, "\r\n\t "), []byte("%PDF-")):
		return kind{formPDF, "application/pdf"}
	}
	name := mediaType(contentType)
	switch {
	case !wide(head, contentType) && !readable(head, isText(name)):
		if name == "" || isText(name) {
			name = "application/octet-stream"
		}
		return kind{formBinary, name}
	case name == "text/html" || name == "application/xhtml+xml":
		return kind{formHTML, name}
	case name != "" && name != "application/octet-stream" && !isText(name):
		return kind{formBinary, name}
	case name != "text/plain" && looksHTML(head) && !isXML(name):
		return kind{formHTML, "text/html"}
	}
	return kind{formText, name}
}

// mediaType is the first part of the header, if it is one: it is shown.
func mediaType(contentType string) string {
	name, _, _ := strings.Cut(contentType, ";")
	name = strings.ToLower(strings.TrimSpace(name))
	if len(name) > 100 || !strings.Contains(name, "/") || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789!#$&^_.+-/") != "" {
		return ""
	}
	return name
}

func isText(name string) bool {
	if strings.HasPrefix(name, "text/") || strings.HasSuffix(name, "+json") || strings.HasSuffix(name, "+yaml") || isXML(name) {
		return true
	}
	switch strings.TrimPrefix(strings.TrimPrefix(name, "application/"), "x-") {
	case "json", "javascript", "ecmascript", "typescript", "yaml", "toml", "sh", "sql", "ndjson", "jsonl", "json5",
		"markdown", "rtf", "tex", "latex", "graphql", "httpd-php", "perl", "python", "ruby", "csh", "shellscript", "www-form-urlencoded":
		return true
	}
	return false
}

func isXML(name string) bool {
	return strings.HasSuffix(name, "+xml") || name == "application/xml" || name == "text/xml"
}

// readable reports bytes that can be text: no NUL, and few control characters
// unless they are said to be text.
func readable(head []byte, said bool) bool {
	odd := 0
	for _, c := range head {
		switch {
		case c == 0:
			return false
		case c < 0x20 && !strings.ContainsRune("\t\n\v\f\r\b\x1b", rune(c)):
			odd++
		}
	}
	return said || odd*10 <= len(head)
}

// looksHTML reports a page that begins like one.
func looksHTML(head []byte) bool {
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	start := bytes.ToLower(bytes.TrimLeft(head, "\r\n\t\f "))
	for _, tag := range []string{"<!doctype html", "<html", "<head", "<body"} {
		if rest, ok := bytes.CutPrefix(start, []byte(tag)); ok && (len(rest) == 0 || bytes.ContainsAny(rest[:1], " >/\t\r\n\f")) {
			return true
		}
	}
	return false
}
