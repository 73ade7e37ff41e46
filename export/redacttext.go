package export

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// text is a text without what is taken out. No form goes over the end of a line, and most lines have
// nothing that most forms need.
func (s *scrubber) text(text string) string {
	var b strings.Builder
	for line := range strings.Lines(s.withoutRoots(text)) {
		b.WriteString(s.line(line))
	}
	return b.String()
}

// line is a line, with its end, without what is taken out.
func (s *scrubber) line(text string) string {
	form := redactedForms()
	label := func(kind string) func(string) string {
		return func(what string) string { return s.label(kind, what) }
	}
	if hasAny(text, ":/", `:\/`) {
		text = form.address.ReplaceAllStringFunc(text, func(address string) string {
			if strings.HasPrefix(address, "file://[project") {
				return address // a file below the session's directory
			}
			kept := strings.TrimRight(address, ".,;:!?)]*_")
			return s.label("url", kept) + address[len(kept):]
		})
	}
	if hasAny(text, "@") {
		text = form.email.ReplaceAllStringFunc(text, label("email"))
		text = form.login.ReplaceAllStringFunc(text, label("host"))
	}
	if hasAny(text, `\\`, `:\`, ":/") {
		text = form.windows.ReplaceAllStringFunc(text, label("path"))
	}
	if hasAny(text, "~") {
		text = replaceGroup(form.home, text, label("path"))
	}
	if mayHavePath(text) {
		text = replaceGroup(form.path, text, func(name string) string {
			kept := strings.TrimRight(name, ".")
			return s.label("path", kept) + name[len(kept):]
		})
	}
	if bare := s.bareHosts(); bare.mayBeIn(text) {
		text = replaceGroup(bare.form, text, label("host"))
	}
	if hasAny(text, ".") {
		text = form.host.ReplaceAllStringFunc(text, label("host"))
	}
	if strings.Count(text, ".") >= 3 {
		text = replaceGroup(form.ipv4, text, s.address)
	}
	if strings.Count(text, ":") >= 2 {
		text = replaceGroup(form.ipv6, text, s.address)
	}
	if s.user.mayBeIn(text) {
		text = replaceGroup(s.user.form, text, func(string) string { return "[user]" })
	}
	return text
}

// hasAny reports whether a text has one of several parts in it.
func hasAny(text string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
}

// mayHavePath reports whether a slash stands where a path may begin, and not within a name.
func mayHavePath(text string) bool {
	for i := range len(text) {
		if text[i] != '/' {
			continue
		}
		if i == 0 || !isOfName(text[i-1]) || i > 1 && text[i-2] == '-' {
			return true
		}
	}
	return false
}

func isOfName(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '.' || c == '/'
}

// address is the label of an IP address, and anything else as it is.
func (s *scrubber) address(text string) string {
	addr, err := netip.ParseAddr(text)
	if err != nil || addr.IsLoopback() || addr.IsUnspecified() || addr.Is6() && !strings.ContainsAny(text, "0123456789") {
		return text
	}
	return s.label("host", text)
}

// replaceGroup replaces what a form finds, but for the groups around it: the first, and the
// third when there is one. It looks twice, for neighbours share what is between them.
func replaceGroup(form *regexp.Regexp, text string, label func(string) string) string {
	for range 2 {
		var b strings.Builder
		end := 0
		for _, at := range form.FindAllStringSubmatchIndex(text, -1) {
			b.WriteString(text[end:at[4]])
			b.WriteString(label(text[at[4]:at[5]]))
			end = at[5]
		}
		if end == 0 {
			return text
		}
		text = b.String() + text[end:]
	}
	return text
}

// withoutRoots replaces the session's directories and the user's home, in every spelling.
func (s *scrubber) withoutRoots(text string) string {
	folded := strings.ToLower(text)
	if len(folded) != len(text) {
		folded = foldASCII(text)
	}
	var b strings.Builder
	for at := 0; at < len(text); {
		r, size := s.rootAt(text, folded, at)
		if size == 0 {
			_, size = utf8.DecodeRuneInString(text[at:])
			b.WriteString(text[at : at+size])
			at += size
			continue
		}
		at += size
		if r.label != "[home]" {
			b.WriteString(r.label)
			continue
		}
		rest := redactedForms().homeRest.FindString(text[at:])
		b.WriteString(s.label("path", r.label+rest))
		at += len(rest)
	}
	return b.String()
}

// rootAt is the root that stands at a place, and the size of its spelling; 0 for none.
func (s *scrubber) rootAt(text, folded string, at int) (found root, size int) {
	for _, r := range s.roots {
		if !strings.HasPrefix(folded[at:], r.spelling) {
			continue
		}
		next, _ := utf8.DecodeRuneInString(text[at+len(r.spelling):])
		if len(text) > at+len(r.spelling) && (unicode.IsLetter(next) || unicode.IsDigit(next) || next == '_') {
			continue // a longer name
		}
		return r, len(r.spelling)
	}
	return found, 0
}

func foldASCII(text string) string {
	folded := []byte(text)
	for i, b := range folded {
		if 'A' <= b && b <= 'Z' {
			folded[i] = b + 'a' - 'A'
		}
	}
	return string(folded)
}

// pathKeys are members whose values are paths, whatever they look like.
var pathKeys = []string{"path", "absolutePath", "absolute_path", "output_path", "cwd", "dir", "directory", "file_path", "filePath"}

// json is a JSON value with all its texts cleaned.
func (s *scrubber) json(data []byte) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(s.tree("", value)); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(out.Bytes()), nil
}

// tree cleans a decoded value, which stands under a key.
func (s *scrubber) tree(key string, value any) any {
	switch v := value.(type) {
	case string:
		return s.member(key, v)
	case []any:
		for i := range v {
			v[i] = s.tree(key, v[i])
		}
	case map[string]any:
		clean := make(map[string]any, len(v))
		_, typed := v["media_type"]
		for name, member := range v {
			if typed && name == "data" {
				member = "" // an image can show anything
			}
			clean[s.text(name)] = s.tree(name, member)
		}
		return clean
	}
	return value
}

// member cleans a text under a key.
func (s *scrubber) member(key, text string) string {
	if key == "input" {
		if clean, err := s.json([]byte(text)); err == nil {
			return string(clean)
		}
	}
	clean := s.text(text)
	if slices.Contains(pathKeys, key) && clean == text && (strings.HasPrefix(text, "/") || strings.HasPrefix(text, "~")) && len(text) > 1 {
		return s.label("path", text)
	}
	return clean
}
