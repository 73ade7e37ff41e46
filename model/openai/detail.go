package openai

import (
	"encoding/json"
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// maxMessage bounds the runes of a server's message that are shown.
const maxMessage = 600

// detail is what a server says of an error. Its message is one clean line.
type detail struct {
	message string
	code    string
	kind    string // the member "type"
	param   string
}

func (d *detail) Error() string { return d.message }

// parseDetail reads the shapes that servers use: {"error": {…}}, {"error": "…"},
// {"message": …}, {"detail": …}, a list of one of them, or plain text.
func parseDetail(body []byte) *detail {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(body, &object) != nil {
		return &detail{message: plain(body)}
	}
	if inner := object["error"]; len(inner) > 0 {
		var nested map[string]json.RawMessage
		if json.Unmarshal(inner, &nested) != nil {
			return &detail{message: loose(inner), code: loose(object["code"])}
		}
		if len(nested) > 0 {
			object = nested
		}
	}
	d := &detail{
		message: loose(object["message"]), code: loose(object["code"]),
		kind: loose(object["type"]), param: loose(object["param"]),
	}
	if d.kind == "" {
		d.kind = loose(object["status"])
	}
	if d.message == "" {
		d.message = loose(object["detail"])
	}
	// OpenRouter hides the words of the server behind it in metadata.
	var metadata struct{ Raw string }
	if json.Unmarshal(object["metadata"], &metadata) == nil && metadata.Raw != "" {
		d.message += ": " + metadata.Raw
	}
	return d
}

// loose is the text of a JSON value: of a string what it says, of null nothing,
// of anything else the JSON.
func loose(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) == nil {
		return s
	}
	return string(value)
}

// plain is the text of a body that is not JSON. Of a web page the title tells
// enough.
func plain(body []byte) string {
	text := string(body)
	lower := strings.ToLower(text)
	if !strings.Contains(lower, "<html") && !strings.Contains(lower, "<!doctype") {
		return text
	}
	_, title, found := strings.Cut(lower, "<title>")
	title, _, closed := strings.Cut(title, "</title>")
	if !found || !closed {
		return "a web page"
	}
	return "a web page, titled " + strings.TrimSpace(title)
}

// names reports whether the error is about the named parameter.
func (d *detail) names(param string) bool {
	if d.param == param {
		return true
	}
	word := func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	for field := range strings.FieldsFuncSeq(d.message, word) {
		if field == param {
			return true
		}
	}
	return false
}

// label is the code, or the type when there is no code in words.
func (d *detail) label() string {
	if d.code == "" || strings.Trim(d.code, "0123456789") == "" {
		return strings.ToLower(d.kind)
	}
	return strings.ToLower(d.code)
}

func (d *detail) contains(parts ...string) bool {
	message := strings.ToLower(d.message)
	for _, part := range parts {
		if strings.Contains(message, part) {
			return true
		}
	}
	return false
}

// overflow reports whether the request was too long for the model. Some servers
// answer so with 429 (a request larger than the whole allowance of a minute) or
// with 500.
func (d *detail) overflow(status int) bool {
	if status == 413 {
		return true
	}
	for _, label := range []string{strings.ToLower(d.code), strings.ToLower(d.kind)} {
		switch label {
		case "context_length_exceeded", "exceed_context_size_error", "context_window_exceeded", "request_too_large", "string_above_max_length":
			return true
		}
	}
	return d.contains("maximum context length", "context length exceeded", "exceeds the context", "context size",
		"context window", "prompt is too long", "prompt too long", "input is too long", "request too large",
		"input token count", "greater than the context length", "context the overflows", "reduce the length of the")
}

// outOfQuota reports whether there is nothing left to pay with, which no wait
// mends.
func (d *detail) outOfQuota() bool {
	switch d.label() {
	case "insufficient_quota", "billing_hard_limit_reached", "insufficient_balance", "exceeded_current_quota_error", "billing_not_active":
		return true
	}
	return d.contains("insufficient balance", "insufficient credit", "insufficient_quota")
}

// keyShape matches what looks like a credential in a server's message.
var keyShape = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(?:sk|pk|rk|gsk|xai|hf|key|AIza|eyJ)[-_A-Za-z0-9][-_.*A-Za-z0-9]{10,}|(?i:bearer|api[-_]?key[=:])\s*[^\s"',;]{6,}`)
})

// clean makes one line without secrets and control characters.
func (p *Provider) clean(message string) string {
	const mask = "[redacted]"
	if p.opts.APIKey != "" {
		message = strings.ReplaceAll(message, p.opts.APIKey, mask)
	}
	for _, value := range p.opts.Headers {
		if len(value) >= 6 {
			message = strings.ReplaceAll(message, value, mask)
		}
	}
	for _, values := range p.base.Query() {
		for _, value := range values {
			if len(value) >= 16 {
				message = strings.ReplaceAll(message, value, mask)
			}
		}
	}
	if p.opts.Clean != nil {
		message = p.opts.Clean(message)
	}
	message = keyShape().ReplaceAllString(message, mask)
	message = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(message, "\uFFFD"))
	message = oneLine(message)
	if runes := []rune(message); len(runes) > maxMessage {
		return string(runes[:maxMessage]) + " …"
	}
	return message
}
