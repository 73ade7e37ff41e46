package websearch

import (
	"html"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"acp-agent/internal/textcut"
)

const (
	// MaxResults bounds the results of one search; the providers that take a
	// number take no more.
	MaxResults = 20
	// maxSnippet and maxTitle bound one result's texts, in characters, maxURL
	// its address, in bytes (docs/security.md N1).
	maxSnippet = 500
	maxTitle   = 200
	maxURL     = 2048
)

// bounded is a number of results that every provider takes.
func bounded(limit int) int { return min(max(limit, 1), MaxResults) }

// collector gathers what a provider found: pages of the web only, each once,
// as short plain text.
type collector struct {
	results []Result
	seen    map[string]bool
}

func (c *collector) add(title, address, snippet string) {
	clean, key, ok := pageAddress(address)
	if !ok || c.seen[key] {
		return
	}
	if c.seen == nil {
		c.seen = map[string]bool{}
	}
	c.seen[key] = true
	c.results = append(c.results, Result{Title: plain(title, maxTitle), URL: clean, Snippet: plain(snippet, maxSnippet)})
}

// best are the first results, never nil.
func (c *collector) best(limit int) []Result {
	return append([]Result{}, c.results[:min(len(c.results), bounded(limit))]...)
}

// pageAddress checks an address; key is the same for addresses of one page.
func pageAddress(address string) (clean, key string, ok bool) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Hostname() == "" || u.User != nil || strings.ContainsFunc(u.Host, unseen) {
		return "", "", false
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return "", "", false
	}
	if clean = u.String(); len(clean) > maxURL || strings.ContainsFunc(clean, unseen) {
		return "", "", false
	}
	page := *u
	page.Scheme, page.Host, page.Fragment = "", strings.ToLower(u.Host), ""
	page.Path = strings.TrimSuffix(page.Path, "/")
	return clean, page.String(), true
}

// markup matches the HTML that providers put into texts: elements within words,
// and elements between words. Other angle brackets are text, such as those of
// "List<T>".
var markup = sync.OnceValue(func() (m struct{ within, between *regexp.Regexp }) {
	tag := func(names string) *regexp.Regexp {
		return regexp.MustCompile(`(?i)</?(?:` + names + `)(?:\s[^<>]*)?/?>`)
	}
	m.within = tag(`a|abbr|b|code|em|font|i|kbd|mark|q|s|small|span|strong|sub|sup|u|wbr`)
	m.between = tag(`br|div|h[1-6]|hr|img|li|ol|p|pre|script|style|table|td|th|tr|ul`)
	return m
})

// plain makes one line of at most limit characters out of a text that may hold
// HTML, without characters that are not seen.
func plain(text string, limit int) string {
	const slack = 8 // tags and entities take more room than what they leave
	text = textcut.First(text, limit*utf8.UTFMax*slack)
	text = markup().within.ReplaceAllString(strings.ToValidUTF8(text, ""), "")
	text = html.UnescapeString(markup().between.ReplaceAllString(text, " "))
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unseen(r):
			return -1
		}
		return r
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	return strings.TrimSpace(textcut.Characters(text, limit-1)) + "…"
}

// unseen reports whether a character is invisible, or may be shown as something else.
func unseen(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs) || r == utf8.RuneError
}
