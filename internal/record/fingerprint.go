package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"acp-agent/internal/redact"
)

// fingerprint returns what a recording keeps of a request, which is enough to find where two requests differ:
// its short values as they are, and digests of its long values and of the elements of its lists.
func fingerprint(body []byte) []byte {
	f := fingerprints{clean: func(text string) string { return text }, secrets: func() int { return 0 }}
	return f.of(body)
}

// fingerprints makes the fingerprints of requests, without secrets. Most of a request was in the previous one
// already, so it keeps the digests of values that it has seen.
type fingerprints struct {
	clean   func(string) string
	secrets func() int // see Options
	known   int        // the secrets with which the digests were made
	digests map[uint64]digested
	size    int // bytes in digests
}

// digested is a JSON value with its digest; brief is the value itself when it is short, else the digest.
type digested struct{ value, digest, brief string }

// mostDigested bounds the values of which fingerprints keeps digests, in bytes.
const mostDigested = 8 << 20

// shortValue is the length up to which a fingerprint has a value as it is.
const shortValue = 64

var seed = maphash.MakeSeed()

func (f *fingerprints) of(body []byte) []byte {
	if known := f.secrets(); known != f.known {
		f.known, f.digests, f.size = known, nil, 0
	}
	list, ok := members(body)
	if !ok {
		return appendString(nil, digest(redact.JSON(body, f.clean)))
	}
	slices.SortStableFunc(list, func(a, b member) int { return strings.Compare(a.name, b.name) })
	out := []byte("{")
	for i, m := range list {
		if i+1 < len(list) && list[i+1].name == m.name {
			continue // the last one counts
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(appendString(out, f.clean(m.name)), ':')
		if !m.list {
			out = appendString(out, f.digest(m.value).brief)
			continue
		}
		out = append(out, '[')
		for i, element := range m.elements {
			if i > 0 {
				out = append(out, ',')
			}
			out = appendString(out, f.digest(element).digest)
		}
		out = append(out, ']')
	}
	return append(out, '}')
}

func (f *fingerprints) digest(value []byte) digested {
	key := maphash.Bytes(seed, value)
	if known, ok := f.digests[key]; ok && known.value == string(value) {
		return known
	}
	cleaned := compact(f.cleanAsEncoded(value))
	d := digested{value: string(value), digest: digest(cleaned)}
	if d.brief = d.digest; len(cleaned) <= shortValue {
		d.brief = string(cleaned)
	}
	if f.size += len(value); f.digests == nil || f.size > mostDigested {
		f.digests, f.size = map[uint64]digested{}, len(value)
	}
	f.digests[key] = d
	return d
}

// cleanAsEncoded is a value without secrets, with the characters of HTML escaped as in the value: a replay, which has the
// value without secrets from the start, encodes it like that.
func (f *fingerprints) cleanAsEncoded(value []byte) []byte {
	const html = "<>&"
	cleaned := redact.JSON(value, f.clean)
	if bytes.ContainsAny(value, html) || !bytes.ContainsAny(cleaned, html) {
		return cleaned
	}
	var b bytes.Buffer
	json.HTMLEscape(&b, cleaned)
	return b.Bytes()
}

func compact(value []byte) []byte {
	var b bytes.Buffer
	if json.Compact(&b, value) != nil {
		return value
	}
	return b.Bytes()
}

// compareFingerprints finds the first member in which two fingerprints differ. body is the request of got.
func compareFingerprints(want, got, body []byte) (path, wants, gets string) {
	var w, g, values map[string]json.RawMessage
	if json.Unmarshal(want, &w) != nil || json.Unmarshal(got, &g) != nil {
		return "", string(want), string(got)
	}
	_ = json.Unmarshal(body, &values) // fingerprint has decoded it before
	names := make([]string, 0, len(w)+len(g))
	for name := range w {
		names = append(names, name)
	}
	for name := range g {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if bytes.Equal(w[name], g[name]) {
			continue
		}
		var wl, gl []string
		if json.Unmarshal(w[name], &wl) != nil || json.Unmarshal(g[name], &gl) != nil {
			return name, strings.Trim(string(w[name]), `"`), string(values[name])
		}
		var elements []json.RawMessage
		_ = json.Unmarshal(values[name], &elements)
		return compareLists(name, wl, gl, elements)
	}
	return "", "", ""
}

// compareLists finds the first element in which two lists of digests differ. elements are the values of got.
func compareLists(name string, want, got []string, elements []json.RawMessage) (path, wants, gets string) {
	for i := range max(len(want), len(got)) {
		path = fmt.Sprintf("%s[%d]", name, i)
		switch {
		case i >= len(got):
			return path, want[i], "nothing"
		case i >= len(want):
			return path, "nothing", string(elements[i])
		case want[i] != got[i]:
			return path, "what has the digest " + want[i], string(elements[i])
		}
	}
	return "", "", ""
}

// digest is a short name of a text.
func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}
