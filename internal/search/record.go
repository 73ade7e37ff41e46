package search

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// A chunk is a part of the matches of one job.
type chunk struct {
	text  []byte // "path:LINE: content\n" for each
	lines []shownLine

	total, files               int
	binary, secret, unreadable int
}

// A shownLine is a line of a chunk that may be shown: offsets into its text.
type shownLine struct {
	start, content, end int
	cut                 bool
}

// newChunk takes a chunk that was given back, or makes one.
func (p *pipeline) newChunk() *chunk {
	c, ok := p.chunks.Get().(*chunk)
	if !ok {
		return &chunk{}
	}
	*c = chunk{text: c.text[:0], lines: c.lines[:0]}
	return c
}

// free gives a chunk back, unless it grew so large that it should go.
func (p *pipeline) free(c *chunk) {
	if cap(c.text) <= 2*chunkBytes {
		p.chunks.Put(c)
	}
}

// show is the line as the model sees it: at most limit characters of content,
// always valid UTF-8.
func (l shownLine) show(text []byte, limit int) string {
	content := text[l.content:l.end]
	cut, size := l.cut, 0
	for n := 0; size < len(content); n++ {
		if n == limit {
			cut = true
			break
		}
		_, k := utf8.DecodeRune(content[size:])
		size += k
	}
	line := strings.ToValidUTF8(string(text[l.start:l.content+size]), "\ufffd")
	if cut {
		line += "..."
	}
	return line
}

// A recorder notes the matches of one job.
type recorder struct {
	p         *pipeline
	job       *job
	chunk     *chunk
	dir, name string
	inFile    int
}

// match takes one matching line.
func (r *recorder) match(line int, content []byte, cut bool) error {
	c := r.chunk
	c.total++
	if r.inFile++; r.inFile == 1 {
		c.files++
	}
	shown := r.inFile <= r.p.o.MaxPerFile && !r.p.enough.Load()
	if !shown && r.p.all == nil {
		return nil
	}
	start := len(c.text)
	c.text = append(c.text, r.dir...)
	c.text = append(c.text, r.name...)
	c.text = append(c.text, ':')
	c.text = strconv.AppendInt(c.text, int64(line), 10)
	c.text = append(c.text, ": "...)
	body := len(c.text)
	c.text = append(c.text, content...)
	end := len(c.text)
	if cut {
		c.text = append(c.text, "..."...)
	}
	c.text = append(c.text, '\n')
	if shown {
		c.lines = append(c.lines, shownLine{start, body, end, cut})
	}
	if len(c.text) >= chunkBytes {
		r.job.chunks <- c
		r.chunk = r.p.newChunk()
	}
	return nil
}
