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

// fingerprint is a request without its content: short values as they are, and the digests of long values
// and of the elements of lists.
func fingerprint(body []byte) []byte {
	f := fingerprints{clean: func(text string) string { return text }, secrets: func() int { return 0 }}
	return f.of(body)
}

// fingerprints makes the fingerprints of requests without secrets. Most of a request was in the one before,
// so it keeps the digests of what it has seen.
type fingerprints struct {
	clean   func(string) string
	secrets func() int // see Options
	known   int        // the secrets with which the digests were made
	digests map[uint64]digested
	size    int // bytes in digests
}

// digested is a JSON value with its digest, and with itself in its place when it is short.
type digested struct{ value, digest, part string }

// mostDigested bounds the values that are kept, in bytes.
const mostDigested = 8 << 20

// shortValue is the length up to which a value is its own fingerprint.
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
			out = appendString(out, f.digest(m.value).part)
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
	cleaned := compact(redact.JSON(value, f.clean))
	d := digested{value: string(value), digest: digest(cleaned)}
	if d.part = d.digest; len(cleaned) <= shortValue {
		d.part = string(cleaned)
	}
	if f.size += len(value); f.digests == nil || f.size > mostDigested {
		f.digests, f.size = map[uint64]digested{}, len(value)
	}
	f.digests[key] = d
	return d
}

func compact(value []byte) []byte {
	var b bytes.Buffer
	if json.Compact(&b, value) != nil {
		return value
	}
	return b.Bytes()
}

// compareFingerprints finds the first part in which two fingerprints differ. body is the request of got.
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
		for i := range max(len(wl), len(gl)) {
			path = fmt.Sprintf("%s[%d]", name, i)
			switch {
			case i >= len(gl):
				return path, wl[i], "nothing"
			case i >= len(wl):
				return path, "nothing", string(elements[i])
			case wl[i] != gl[i]:
				return path, "what has the digest " + wl[i], string(elements[i])
			}
		}
	}
	return "", "", ""
}

// digest is a short name of a text.
func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}
