package strictread

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// The errors of Split.
var (
	ErrNoFence   = errors.New("it does not begin with front matter between two lines of ---")
	ErrOpenFence = errors.New("its front matter is not closed by a line of ---")
)

// Split cuts a Markdown file in front matter and body. On an error the body is the whole file
// without its byte order mark.
func Split(data []byte) (front, body []byte, err error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	first, rest, _ := bytes.Cut(data, []byte{'\n'})
	if !isFence(first) {
		return nil, data, ErrNoFence
	}
	at := 0
	for line := range bytes.Lines(rest) {
		if isFence(line) {
			return rest[:at], rest[at+len(line):], nil
		}
		at += len(line)
	}
	return nil, data, ErrOpenFence
}

func isFence(line []byte) bool { return string(bytes.TrimRight(line, " \t\r\n")) == "---" }

// Options say what FrontMatter takes.
type Options struct {
	// MaxNodes bounds how many values there may be; 0 means no bound.
	MaxNodes int
	// Tolerant keeps what other programs may need and the caller does not read: names that
	// stand twice or are not texts, aliases, and values without a JSON form.
	Tolerant bool
}

// FrontMatter parses the YAML that Split cut off. A name or description that YAML takes for
// something else, such as "description: Use when: ...", is read as it is meant. Nothing at all
// is an empty object. Lines count from the first fence. An error is an *Error.
func FrontMatter(front []byte, o Options) (*Node, error) {
	text := "\n" + strings.ToValidUTF8(string(front), "\ufffd")
	document, err := parseMarkdownYAML(text)
	if err != nil {
		return nil, yamlError(text, err, parseMarkdownYAML)
	}
	if len(document.Content) == 0 {
		return &Node{Kind: Object, At: Position{1, 1}}, nil
	}
	reader := yamlReader{Options: o}
	return reader.node(document.Content[0], "")
}

// parseMarkdownYAML parses YAML as other programs take it: as it is meant.
func parseMarkdownYAML(text string) (*yaml.Node, error) {
	document, err := parseYAML(text)
	if err != nil {
		if again, err := parseYAML(quotePlain(text)); err == nil {
			return again, nil
		}
	}
	return document, err
}

// plainValue matches a field whose value is one line without quotes or other YAML syntax at
// its start.
var plainValue = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("(?m)^(name|description):[ \t]+([^\\s\"'\\[\\]{}|>&*!%@`#?-][^\r\n]*?)[ \t\r]*$")
})

// quotePlain puts quotes around plain values, in which a colon or a # then is not syntax.
func quotePlain(text string) string {
	return plainValue().ReplaceAllStringFunc(text, func(line string) string {
		m := plainValue().FindStringSubmatch(line)
		return m[1] + ": '" + strings.ReplaceAll(m[2], "'", "''") + "'"
	})
}
