package wire

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// keyShape matches what looks like a credential in a server's message.
var keyShape = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(?:sk|pk|rk|gsk|xai|hf|key|AIza|eyJ)[-_A-Za-z0-9][-_.*A-Za-z0-9]{10,}|(?i:bearer|api[-_]?key[=:])\s*[^\s"',;]{6,}`)
})

// Clean makes one line without secrets and control characters.
func (s *Server) Clean(message string) string {
	const mask = "[redacted]"
	if s.Key != "" {
		message = strings.ReplaceAll(message, s.Key, mask)
	}
	for _, value := range s.Headers {
		if len(value) >= 6 {
			message = strings.ReplaceAll(message, value, mask)
		}
	}
	for _, values := range s.Base.Query() {
		for _, value := range values {
			if len(value) >= 16 {
				message = strings.ReplaceAll(message, value, mask)
			}
		}
	}
	if s.Redact != nil {
		message = s.Redact(message)
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
	message = OneLine(message)
	if runes := []rune(message); len(runes) > maxMessage {
		return string(runes[:maxMessage]) + " …"
	}
	return message
}
