package permissions

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// foldText maps texts that some file system takes for the same name to one text: it
// decomposes composed letters, as macOS does, folds case, and drops characters that are
// ignored. Only denies use it; an allow compares names exactly.
func foldText(s string) string {
	if plainLower(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range norm.NFD.String(s) {
		if !ignorable(r) {
			b.WriteRune(foldRune(r))
		}
	}
	return b.String()
}

func plainLower(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf || 'A' <= s[i] && s[i] <= 'Z' {
			return false
		}
	}
	return true
}

// foldRune returns the smallest rune of the orbit that simple folding connects, lower
// case for ASCII.
func foldRune(r rune) rune {
	low := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		low = min(low, f)
	}
	if 'A' <= low && low <= 'Z' {
		return low + 'a' - 'A'
	}
	return low
}

// ignorable reports format characters and variation selectors, which HFS+ skips when
// it compares names.
func ignorable(r rune) bool {
	return unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r)
}

// foldPath folds each component of a path and drops what Windows drops: trailing dots
// and blanks, and the name of a data stream ("::$DATA").
func foldPath(p string) string {
	parts := strings.Split(foldText(p), "/")
	for i, part := range parts {
		if part == "." || part == ".." {
			continue
		}
		parts[i] = trimComponent(part, i == 0)
	}
	return strings.Join(parts, "/")
}

func trimComponent(part string, first bool) string {
	if i := strings.IndexByte(part, ':'); i > 0 && !(first && i == 1) {
		part = part[:i]
	}
	if short := strings.TrimRight(part, ". "); short != "" {
		return short
	}
	return part
}

// components splits a path at both kinds of slashes and folds each part. On systems
// where a backslash is an ordinary character this sees more names than there are,
// which only makes a protected name harder to hide.
func components(p string) []string {
	parts := strings.FieldsFunc(foldText(p), func(r rune) bool { return r == '/' || r == '\\' })
	for i, part := range parts {
		parts[i] = trimComponent(part, i == 0)
	}
	return parts
}
