package redact

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strings"
)

// hidden are the forms in which a value may travel in an address: exact ones, and ones
// whose case does not count.
type hidden struct{ exact, folded []string }

// hiddenForms are those of one value: as it is, in hexadecimal digits, and in base 64
// and base 32, wherever the value lies in what was encoded.
func hiddenForms(value string) hidden {
	h := hidden{folded: []string{strings.ToLower(value), hex.EncodeToString([]byte(value))}}
	h.exact = shifted(value, 3, 6, base64.RawStdEncoding.EncodeToString)
	for _, form := range shifted(value, 5, 5, base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString) {
		h.folded = append(h.folded, strings.ToLower(form))
	}
	return h
}

// shifted encodes a value after 0 to group-1 other bytes, and keeps the characters that
// depend on the value alone; each of them holds some bits.
func shifted(value string, group, bits int, encode func([]byte) string) []string {
	const byteBits = 8
	var forms []string
	for before := range group {
		text := encode(append(make([]byte, before), value...))
		from := (before*byteBits + bits - 1) / bits
		to := (before + len(value)) * byteBits / bits
		forms = append(forms, text[from:to])
	}
	return forms
}

// decodings is how often an address is decoded in search of a value.
const decodings = 3

// Hides reports whether a text that is to leave the machine, such as an address, holds
// one of the values that are [Distinct]: as it is in any case, with escapes of addresses up to three deep,
// in hexadecimal digits, in base 64 or base 32.
func (v *Values) Hides(text string) bool {
	if v == nil {
		return false
	}
	v.mu.RLock()
	defer v.mu.RUnlock()
	for range decodings + 1 {
		if v.hides(text) {
			return true
		}
		next := unescaped(text)
		if next == text {
			return false
		}
		text = next
	}
	return false
}

func (v *Values) hides(text string) bool {
	exact, folded := strings.NewReplacer("-", "+", "_", "/").Replace(text), strings.ToLower(text)
	for _, h := range v.hidden {
		for _, form := range h.exact {
			if strings.Contains(exact, form) {
				return true
			}
		}
		for _, form := range h.folded {
			if strings.Contains(folded, form) {
				return true
			}
		}
	}
	return false
}

// unescaped undoes one layer of the escapes of addresses; an escape that is not valid
// stays as it is.
func unescaped(text string) string {
	if whole, err := url.PathUnescape(text); err == nil {
		return whole
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			if c, err := hex.DecodeString(text[i+1 : i+3]); err == nil {
				b.WriteByte(c[0])
				i += 2
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
