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

// text is a text without what is taken out.
func (s *scrubber) text(text string) string {
	if text == "" {
		return text
	}
	text = s.withoutRoots(text)
	form := formsOf()
	text = form.address.ReplaceAllStringFunc(text, func(address string) string {
		if strings.HasPrefix(address, "file://[project") {
			return address // a file below the session's directory
		}
		kept := strings.TrimRight(address, ".,;:!?)]*_")
		return s.label("url", kept) + address[len(kept):]
	})
	text = form.email.ReplaceAllStringFunc(text, func(address string) string { return s.label("email", address) })
	text = form.login.ReplaceAllStringFunc(text, func(address string) string { return s.label("host", address) })
	text = form.windows.ReplaceAllStringFunc(text, func(name string) string { return s.label("path", name) })
	text = replaceGroup(form.home, text, func(name string) string { return s.label("path", name) })
	text = replaceGroup(form.path, text, func(name string) string {
		kept := strings.TrimRight(name, ".")
		return s.label("path", kept) + name[len(kept):]
	})
	text = replaceGroup(s.bareHosts(), text, func(host string) string { return s.label("host", host) })
	text = form.host.ReplaceAllStringFunc(text, func(host string) string { return s.label("host", host) })
	text = replaceGroup(form.ipv4, text, func(address string) string { return s.address(address) })
	text = replaceGroup(form.ipv6, text, func(address string) string { return s.address(address) })
	return replaceGroup(s.user, text, func(string) string { return "[user]" })
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
	if form == nil {
		return text
	}
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
		rest := formsOf().homeRest.FindString(text[at:])
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
				member = "" // a picture can show anything
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
