package bm25

import (
	"cmp"
	"math"
	"slices"
)

// The constants of the formula, as is usual: how soon more of a term stops
// counting, and how much longer documents are held back.
const (
	saturation = 1.2
	lengthBias = 0.75
)

// maxQueryTerms bounds the work for one query; what comes after is ignored.
const maxQueryTerms = 64

// Document is one text to be found. The terms of its ID count as its text.
type Document struct {
	// ID names the document in hits; unique in an index.
	ID string
	// Text is prose, names or both.
	Text string
}

// Hit is a document that has at least one term of the query.
type Hit struct {
	ID string
	// Score is above 0; it compares hits of one query and means nothing else.
	Score float64
}

// Index finds documents by words (R87).
type Index struct {
	ids      []string
	postings map[string][]posting
	// norms are the denominators' share of each document's length.
	norms []float64
}

// posting says how often a term stands in a document.
type posting struct {
	document int
	count    float64
}

// New indexes documents.
func New(documents []Document) *Index {
	x := &Index{
		ids: make([]string, len(documents)), postings: map[string][]posting{}, norms: make([]float64, len(documents)),
	}
	total := 0.0
	for i, d := range documents {
		x.ids[i] = d.ID
		all := append(terms(d.ID), terms(d.Text)...)
		x.norms[i] = float64(len(all))
		total += x.norms[i]
		for _, term := range all {
			list := x.postings[term]
			if last := len(list) - 1; last >= 0 && list[last].document == i {
				list[last].count++
				continue
			}
			x.postings[term] = append(list, posting{i, 1})
		}
	}
	average := max(total/float64(max(len(documents), 1)), 1)
	for i, length := range x.norms {
		x.norms[i] = saturation * (1 - lengthBias + lengthBias*length/average)
	}
	return x
}

// Search returns the documents that match best, best first and by ID where they
// match equally well, at most limit. No match is not a hit: the list is empty.
func (x *Index) Search(query string, limit int) []Hit {
	if limit <= 0 {
		return nil
	}
	scores := make([]float64, len(x.ids))
	for _, term := range distinct(terms(query)) {
		list := x.postings[term]
		with := float64(len(list))
		weight := math.Log(1 + (float64(len(x.ids))-with+0.5)/(with+0.5))
		for _, p := range list {
			scores[p.document] += weight * p.count * (saturation + 1) / (p.count + x.norms[p.document])
		}
	}
	hits := []Hit{}
	for document, score := range scores {
		if score > 0 {
			hits = append(hits, Hit{ID: x.ids[document], Score: score})
		}
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	return hits[:min(limit, len(hits))]
}

// distinct drops repeated terms, so that saying a word twice counts no more,
// and keeps the order, so that sums come out the same each time.
func distinct(all []string) []string {
	seen := map[string]bool{}
	var kept []string
	for _, term := range all {
		if len(kept) == maxQueryTerms {
			break
		}
		if !seen[term] {
			seen[term] = true
			kept = append(kept, term)
		}
	}
	return kept
}
