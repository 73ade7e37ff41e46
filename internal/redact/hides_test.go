package redact

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strings"
	"testing"
)

func TestValues_Hides(t *testing.T) {
	t.Parallel()
	const key = "sk-Test/0123+456789 abcDEF"
	var values Values
	values.Add(key, "short")
	escaped := func(text string) string {
		var b strings.Builder
		for i := range len(text) {
			b.WriteString("%" + hex.EncodeToString([]byte{text[i]}))
		}
		return b.String()
	}
	encoded := map[string]string{
		"plain": key, "lower case": strings.ToLower(key), "query": url.QueryEscape(strings.ReplaceAll(key, " ", "%20")), "path": url.PathEscape(key),
		"every byte": escaped(key), "twice": escaped(escaped(key)), "three times": escaped(escaped(escaped(key))),
		"beside a broken escape": "%zz" + escaped(key), "hexadecimal": strings.ToUpper(hex.EncodeToString([]byte(key))),
	}
	for _, before := range []string{"", "a", "ab", "abc", "abcd"} {
		text := []byte(before + key + "xyz")
		encoded["base 64 after "+before] = base64.StdEncoding.EncodeToString(text)
		encoded["base 64 of addresses after "+before] = base64.RawURLEncoding.EncodeToString(text)
		encoded["escaped base 64 after "+before] = escaped(base64.StdEncoding.EncodeToString(text))
		encoded["base 32 after "+before] = strings.ToLower(base32.StdEncoding.EncodeToString(text))
	}
	for name, text := range encoded {
		if !values.Hides("https://example.com/x?k=" + text + "&y=1") {
			t.Errorf("%s: not found in %q", name, text)
		}
	}
	for _, text := range []string{
		"", "short", "https://example.com/", "https://example.com/?k=" + key[:len(key)-1], "%", "%%%",
		base64.StdEncoding.EncodeToString([]byte(key[:len(key)-2])),
	} {
		if values.Hides(text) {
			t.Errorf("found in %q", text)
		}
	}
	if (*Values)(nil).Hides(key) || new(Values).Hides(key) {
		t.Error("found without any value")
	}
}
