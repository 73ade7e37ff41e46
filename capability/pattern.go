package capability

import (
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

const globMeta = `*?[]{}\`

// EscapeGlob returns text as a glob that matches exactly text.
func EscapeGlob(text string) string {
	if !strings.ContainsAny(text, globMeta) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if strings.ContainsRune(globMeta, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// MatchPath reports whether pattern accepts the clean, absolute, slash-separated name.
// A pattern without wildcards also accepts everything beneath the path it names. A
// malformed pattern accepts nothing.
func MatchPath(pattern, name string) bool {
	if ok, err := doublestar.Match(pattern, name); err != nil {
		return false
	} else if ok {
		return true
	}
	if hasWildcard(pattern) {
		return false
	}
	ok, err := doublestar.Match(strings.TrimSuffix(pattern, "/")+"/**", name)
	return err == nil && ok
}

// hasWildcard reports whether pattern holds a glob character that is not escaped.
func hasWildcard(pattern string) bool {
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '*', '?', '[', '{':
			return true
		}
	}
	return false
}

// MatchHost reports whether a host pattern accepts a host name. Both are compared label
// by label without regard to case and to one trailing dot: "example.com" accepts that
// name only, "*.example.com" every name beneath it, "*" any name. A "*" elsewhere never
// matches.
func MatchHost(pattern, host string) bool {
	p, h := normalHost(pattern), normalHost(host)
	if p == "" || h == "" {
		return false
	}
	if p == "*" {
		return true
	}
	suffix, beneath := strings.CutPrefix(p, "*.")
	if strings.Contains(suffix, "*") || suffix == "" {
		return false
	}
	if !beneath {
		return p == h
	}
	return len(h) > len(suffix)+1 && strings.HasSuffix(h, "."+suffix)
}

func normalHost(host string) string {
	return strings.TrimSuffix(strings.ToLower(host), ".")
}

// absolute reports whether a slash-separated path is absolute on some platform.
func absolute(p string) bool {
	if strings.HasPrefix(p, "/") {
		return true
	}
	return len(p) > 2 && p[1] == ':' && p[2] == '/' && ('a' <= p[0]|0x20 && p[0]|0x20 <= 'z')
}

func slashes(p string) string { return strings.ReplaceAll(p, `\`, "/") }

// cleanName returns the lexically clean slash form of an absolute path, or false.
func cleanName(name string, windows bool) (string, bool) {
	if windows {
		name = slashes(name)
	}
	if !absolute(name) {
		return "", false
	}
	return path.Clean(name), true
}
