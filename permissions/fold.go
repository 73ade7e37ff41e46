package permissions

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// foldText maps texts that some file system takes for the same name to one text: it
// folds case, takes composed letters apart, and drops characters that are ignored. Used for
// denies only; an allow compares exactly (P4).
func foldText(s string) string {
	if plainLower(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s {
		for _, d := range decompose(r) {
			if !ignorable(d) {
				b.WriteRune(foldRune(d))
			}
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
