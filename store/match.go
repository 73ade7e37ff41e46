package store

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"acp-agent/internal/userfile"
	"acp-agent/transcript"
)

// matcher finds words in session records. It searches the bytes of a record for needle, the longest run of
// a word that JSON does not escape, and decodes only the lines that have it. It belongs to one worker.
type matcher struct {
	words  []string // in lower case
	needle []byte   // with ASCII in lower case
	text   []byte   // a buffer for the record
	lower  []byte   // text with ASCII in lower case
}

func newMatcher(words []string) *matcher {
	m := &matcher{}
	for _, word := range words {
		m.words = append(m.words, strings.ToLower(word))
		if run := plainRun(word); len(run) > len(m.needle) {
			m.needle = lowerASCII(nil, []byte(run))
		}
	}
	return m
}

// plainRun is the longest run of a word that JSON does not escape, without letters outside ASCII that have
// several cases: lower folds only ASCII.
func plainRun(word string) string {
	longest := ""
	for _, run := range strings.FieldsFunc(word, func(r rune) bool {
		switch {
		case r == '"', r == '\\', r < ' ', r == '\u2028', r == '\u2029', r == utf8.RuneError:
			return true // JSON may escape it
		}
		return r >= utf8.RuneSelf && unicode.SimpleFold(r) != r
	}) {
		if len(run) > len(longest) {
			longest = run
		}
	}
	return longest
}

func lowerASCII(to, from []byte) []byte {
	if cap(to) < len(from) {
		to = make([]byte, len(from))
	}
	to = to[:len(from)]
	for i, b := range from {
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		to[i] = b
	}
	return to
}

// searchChunk is how much of a file is read at once, after firstChunk.
const searchChunk = 1 << 20

// file returns the first hits in a record, at most most.
func (m *matcher) file(ctx context.Context, path string, most int) ([]Hit, error) {
	f, err := userfile.Open(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if cap(m.text) == 0 {
		m.text = make([]byte, firstChunk)
	}
	s := fileSearch{m: m, most: most, seen: map[partKey]bool{}}
	kept, read := 0, 0 // kept is the size of an incomplete line at the beginning of the buffer
	for ctx.Err() == nil {
		switch {
		case kept == cap(m.text) && kept >= maxLine:
			kept = 0 // it is not a record
		case kept == cap(m.text), read > firstChunk && cap(m.text) < searchChunk:
			m.text = append(make([]byte, 0, max(2*kept, searchChunk)), m.text[:kept]...)
		}
		n, err := f.Read(m.text[kept:cap(m.text)])
		read += n
		text := m.text[:kept+n]
		end := bytes.LastIndexByte(text, '\n') + 1
		if s.lines(text[:end]) {
			break
		}
		kept = copy(m.text[:cap(m.text)], text[end:])
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return s.hits, err
		}
	}
	return s.hits, nil
}

// fileSearch is the search of one file.
type fileSearch struct {
	m    *matcher
	most int
	hits []Hit
	seen map[partKey]bool
}

// partKey names a part of a session.
type partKey struct {
	sub, of string
	n       int
}

// lines searches complete lines. It reports whether there are enough hits.
func (s *fileSearch) lines(text []byte) bool {
	m := s.m
	m.lower = lowerASCII(m.lower, text)
	for from := 0; from < len(text); {
		i := bytes.Index(m.lower[from:], m.needle)
		if i < 0 {
			return false
		}
		i += from
		if isKey(text, i, len(m.needle)) {
			from = i + len(m.needle)
			continue
		}
		begin := bytes.LastIndexByte(text[:i], '\n') + 1
		end := len(text)
		if n := bytes.IndexByte(text[i:], '\n'); n >= 0 {
			end = i + n
		}
		s.line(text[begin:end])
		if len(s.hits) >= s.most {
			return true
		}
		from = end + 1
	}
	return false
}

// isKey reports whether the match at i is in the name of a member, and so in no text.
func isKey(text []byte, i, size int) bool {
	const longest = 32
	begin, end := i, i+size
	for begin > 0 && i-begin < longest && isNameByte(text[begin-1]) {
		begin--
	}
	for end < len(text) && end-i < longest && isNameByte(text[end]) {
		end++
	}
	for _, b := range text[i : i+size] {
		if !isNameByte(b) {
			return false
		}
	}
	return begin > 0 && text[begin-1] == '"' && (begin < 2 || text[begin-2] != '\\') && bytes.HasPrefix(text[end:], []byte(`":`))
}

func isNameByte(b byte) bool { return b == '_' || 'a' <= b && b <= 'z' }

// line adds a hit if the line's part holds all words.
func (s *fileSearch) line(text []byte) {
	l, err := parse(text)
	if err != nil || l.kind != partKind || l.op == opCall {
		return
	}
	key := partKey{l.sub, l.of, l.n}
	if s.seen[key] {
		return
	}
	part, err := transcript.DecodePart(l.data)
	if err != nil {
		return
	}
	snippet, found := s.m.match(textsOf(part))
	if !found {
		return
	}
	s.seen[key] = true
	s.hits = append(s.hits, Hit{
		MessageID: l.of, Subagent: l.sub, User: l.role == string(transcript.User), At: time.UnixMilli(l.at).UTC(), Snippet: snippet,
	})
}

// match returns the surroundings of the first word, if the texts together have all words.
func (m *matcher) match(texts []string) (snippet string, found bool) {
	for i, word := range m.words {
		has := false
		for _, text := range texts {
			folded := strings.ToLower(text)
			at := strings.Index(folded, word)
			if at < 0 {
				continue
			}
			has = true
			if i == 0 && len(folded) == len(text) {
				snippet = around(text, at, len(word))
			} else if i == 0 {
				snippet = around(folded, at, len(word))
			}
			break
		}
		if !has {
			return "", false
		}
	}
	return snippet, true
}
