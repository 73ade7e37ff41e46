package bm25_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/bm25"
)

func TestTerms(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       []string
	}{
		{"nothing", " ,. ", nil},
		{"snake, dots and dashes", "mcp__git-hub.search_code", []string{"mcp", "git", "hub", "search", "cod"}},
		{"camel", "createIssue", []string{"creat", "issu", "createissu"}},
		{"capitals", "HTTPServer loadURL", []string{"http", "server", "httpserver", "load", "url", "loadurl"}},
		{"a word of capitals", "JSON", []string{"json"}},
		{"digits stay", "s3 base64Encode", []string{"s3", "base64", "encod", "base64encod"}},
		{"other scripts", "Größe Ärger", []string{"größ", "ärger"}},
		{"no spaces", "搜索git", []string{"搜", "索", "git"}},
		{"not UTF-8", "a\xffb", []string{"a", "b"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, bm25.Terms(tt.text)); diff != "" {
				t.Errorf("terms (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTerms_Plurals(t *testing.T) {
	t.Parallel()
	for _, pair := range []string{
		"issue issues", "query queries", "branch branches", "cache caches", "box boxes", "movie movies",
		"address addresses", "status statuses", "file files", "use uses", "analysis analysis",
	} {
		if got := bm25.Terms(pair); len(got) != 2 || got[0] != got[1] {
			t.Errorf("terms of %q = %q, want the same twice", pair, got)
		}
	}
	for _, pair := range []string{"bus but", "class clap", "status stat", "redis red"} {
		if got := bm25.Terms(pair); got[0] == got[1] {
			t.Errorf("terms of %q are the same: %q", pair, got)
		}
	}
}

func documents() []bm25.Document {
	return []bm25.Document{
		{ID: "mcp__github__create_issue", Text: "Open a new issue in a GitHub repository."},
		{ID: "mcp__github__search_code", Text: "Search code across GitHub repositories."},
		{ID: "mcp__mail__send", Text: "Send an e-mail message to one or more people."},
		{ID: "tb__deploy", Text: "Deploy the service. Takes a version; the deploy waits for checks."},
		{ID: "mcp__b__same", Text: "identical words"},
		{ID: "mcp__a__same", Text: "identical words"},
	}
}

func ids(hits []bm25.Hit) []string {
	var list []string
	for _, hit := range hits {
		list = append(list, hit.ID)
	}
	return list
}

func TestIndex_Search(t *testing.T) {
	t.Parallel()
	index := bm25.New(documents())
	tests := []struct {
		name, query string
		limit       int
		want        []string
	}{
		{"by name", "create_issue", 10, []string{"mcp__github__create_issue"}},
		{"by prose, plural for singular", "emails people", 1, []string{"mcp__mail__send"}},
		{"another spelling", "searchCode", 10, []string{"mcp__github__search_code"}},
		{"the rarer word decides", "github deploy", 1, []string{"tb__deploy"}},
		{"ties by id", "identical", 10, []string{"mcp__a__same", "mcp__b__same"}},
		{"a word twice is a word", "identical identical identical mail", 1, []string{"mcp__mail__send"}},
		{"limit", "github", 1, []string{"mcp__github__search_code"}},
		{"no match", "weather forecast", 10, nil},
		{"no words", "?!", 10, nil},
		{"no limit left", "github", 0, nil},
		{"below", "github", -1, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, ids(index.Search(tt.query, tt.limit))); diff != "" {
				t.Errorf("hits (-want +got):\n%s", diff)
			}
		})
	}
	if got := bm25.New(nil).Search("anything", 5); len(got) != 0 {
		t.Errorf("an empty index found %v", got)
	}
	if got := index.Len(); got != len(documents()) {
		t.Errorf("Len = %d", got)
	}
}

func TestIndex_ShorterDocumentFirst(t *testing.T) {
	t.Parallel()
	index := bm25.New([]bm25.Document{
		{ID: "a", Text: "lint " + strings.Repeat("other words ", 40)},
		{ID: "b", Text: "lint the code"},
	})
	if diff := cmp.Diff([]string{"b", "a"}, ids(index.Search("lint", 2))); diff != "" {
		t.Errorf("hits (-want +got):\n%s", diff)
	}
}

// Whatever is indexed and asked: scores fall, equal ones stand by id, every hit
// is a document, and asking again gives the same.
func FuzzIndex_Search(f *testing.F) {
	f.Add("create_issue", "GitHub issues", "a b c")
	f.Add("ÄÖ ß", "搜索 code", "\xff\x00")
	f.Add("", "", "")
	f.Fuzz(func(t *testing.T, first, second, query string) {
		index := bm25.New([]bm25.Document{{ID: "2", Text: first}, {ID: "1", Text: second}, {ID: "3", Text: first}})
		hits := index.Search(query, 2)
		if len(hits) > 2 {
			t.Fatalf("%d hits, want at most 2", len(hits))
		}
		for i, hit := range hits {
			if !(hit.Score > 0) || !slices.Contains([]string{"1", "2", "3"}, hit.ID) {
				t.Errorf("hit %+v", hit)
			}
			if i > 0 && (hits[i-1].Score < hit.Score || hits[i-1].Score == hit.Score && hits[i-1].ID >= hit.ID) {
				t.Errorf("hits %+v are out of order", hits)
			}
		}
		if diff := cmp.Diff(hits, index.Search(query, 2)); diff != "" {
			t.Errorf("the second time (-first +second):\n%s", diff)
		}
		if len(bm25.Terms(first)) > 0 && len(index.Search(first, 3)) == 0 {
			t.Errorf("%q does not find itself", first)
		}
	})
}

func BenchmarkIndex_Search(b *testing.B) {
	var list []bm25.Document
	for i := range 5000 {
		list = append(list, bm25.Document{
			ID:   fmt.Sprintf("mcp__server%d__tool_%d", i%40, i),
			Text: fmt.Sprintf("Does thing %d with the repository of kind %d and returns a list of results.", i%97, i%13),
		})
	}
	index := bm25.New(list)
	b.ReportAllocs()
	for b.Loop() {
		index.Search("list the results of thing 42 in the repository", 10)
	}
}
