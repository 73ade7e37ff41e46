package redact

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Mask stands where a secret was.
const Mask = "[redacted]"

// Values are configured values that must not be shown. The zero value is empty and
// ready to use, and nil is empty for ever. Its methods may be called from any
// goroutine.
type Values struct {
	mu     sync.RWMutex
	forms  []string
	hidden []hidden // for Hides, one for each value
}

// Add keeps values out of the texts from now on. One shorter than Least is left
// aside.
func (v *Values) Add(values ...string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	forms := slices.Clone(v.forms)
	for _, value := range values {
		if len(value) < Least || slices.Contains(v.forms, value) {
			continue
		}
		if Distinct(value) {
			v.hidden = append(v.hidden, hiddenForms(value))
		}
		for _, form := range spellings(value) {
			if !slices.Contains(forms, form) {
				forms = append(forms, form)
			}
		}
	}
	// The longest first, so that a value within another leaves no rest of it.
	slices.SortStableFunc(forms, func(a, b string) int { return len(b) - len(a) })
	v.forms = forms
}

// spellings are a value as it is, as it is escaped in JSON, and as in addresses.
func spellings(value string) []string {
	list := []string{value, url.QueryEscape(value), url.PathEscape(value)}
	for _, html := range []bool{true, false} {
		var b strings.Builder
		encoder := json.NewEncoder(&b)
		encoder.SetEscapeHTML(html)
		if encoder.Encode(value) == nil {
			text := strings.TrimSuffix(b.String(), "\"\n")[1:]
			list = append(list, text, strings.ReplaceAll(text, "/", `\/`)) // as some write it
		}
	}
	return list
}

// Distinct reports whether a value can be taken for a key wherever it is met: it is
// long and holds a digit. What is configured for servers that want no key, such as
// "lm-studio" or "not-needed", is an ordinary word in other text.
func Distinct(value string) bool {
	const long = 16
	return len(value) >= long && strings.ContainsAny(value, "0123456789")
}

// Empty reports whether there is no value, so that Known changes nothing.
func (v *Values) Empty() bool {
	if v == nil {
		return true
	}
	v.mu.RLock()
	defer v.mu.RUnlock()
	return len(v.forms) == 0
}

// Size returns how many spellings of values are kept out of texts. It only grows.
func (v *Values) Size() int {
	if v == nil {
		return 0
	}
	v.mu.RLock()
	defer v.mu.RUnlock()
	return len(v.forms)
}

// Known takes the values out of a text, and nothing else.
func (v *Values) Known(text string) string {
	if v == nil {
		return text
	}
	v.mu.RLock()
	defer v.mu.RUnlock()
	for _, form := range v.forms {
		if strings.Contains(text, form) {
			text = strings.ReplaceAll(text, form, Mask)
		}
	}
	return text
}

// pending returns how many bytes at the end of a text may be the beginning of a
// value, for text that arrives in pieces.
func (v *Values) pending(text string) int {
	if v == nil {
		return 0
	}
	v.mu.RLock()
	defer v.mu.RUnlock()
	most := 0
	for _, form := range v.forms {
		for n := min(len(form)-1, len(text)); n > most; n-- {
			if strings.HasSuffix(text, form[:n]) {
				most = n
				break
			}
		}
	}
	return most
}

// Begins reports whether a text ends with what may be the beginning of a value, or of a key of a
// known form.
func (v *Values) Begins(text string) bool {
	const few = 4 // bytes with which many a word begins
	return v.pending(text) >= few || begins(text)
}

// Text takes out the values, and whatever has the shape of a secret.
func (v *Values) Text(text string) string { return Text(v.Known(text)) }

// Text takes out what has the shape of a secret: keys of well-known providers,
// signed web tokens, private keys, users and passwords of URLs, and what stands
// behind Authorization.
func Text(text string) string {
	text = privateKeys(text)
	for f := range knownForms().in(text) {
		text = masked(text, f.find)
	}
	text = masked(text, webToken)
	text = masked(text, func(text string) (from, to int) { return userinfo(text, true) })
	if !containsFold(text, "authorization", 'z') && !containsFold(text, "bearer", 'b') {
		return text // the expression takes a millisecond for some kilobytes
	}
	return authorization().ReplaceAllString(text, "${1}"+Mask)
}

// containsFold reports whether a text contains a word of lower-case ASCII in any case. rare is a
// byte of the word that few texts have often.
func containsFold(text, word string, rare byte) bool {
	before := strings.IndexByte(word, rare)
	for _, letter := range []byte{rare, rare - 'a' + 'A'} {
		for at := 0; ; at++ {
			i := strings.IndexByte(text[at:], letter)
			if i < 0 {
				break
			}
			at += i
			from, to := at-before, at-before+len(word)
			if from >= 0 && to <= len(text) && strings.EqualFold(text[from:to], word) {
				return true
			}
		}
	}
	return false
}

// masked replaces all that find finds.
func masked(text string, find func(string) (from, to int)) string {
	from, to := find(text)
	if from < 0 {
		return text
	}
	var out strings.Builder
	for ; from >= 0; from, to = find(text) {
		out.WriteString(text[:from])
		out.WriteString(Mask)
		text = text[to:]
	}
	out.WriteString(text)
	return out.String()
}

// authorization finds the credentials behind the name of a header.
var authorization = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(\b(?:proxy-)?authorization\\?["']?\s*[:=]\s*\\?["'\[]*(?:(?:bearer|basic|token|apikey|digest)\s+)?|\bbearer\s+)[^\s"'\\,;\[\]]{6,}`)
})

// privateKeys removes the body of PEM blocks of private keys, including blocks that
// are cut off or whose line breaks are escaped.
func privateKeys(text string) string {
	if !strings.Contains(text, "PRIVATE KEY-----") {
		return text
	}
	return pem().ReplaceAllString(text, "${1}"+Mask+"${2}")
}

var pem = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)(-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----).*?(-----END [A-Z0-9 ]*PRIVATE KEY-----|$)`)
})
