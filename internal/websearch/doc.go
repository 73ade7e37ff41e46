// Package websearch asks search providers: the seam behind web_search.
//
// It owns the documented HTTP interfaces of the providers and how their answers
// become plain, bounded results. It does not know tools, sessions or limits of
// calls, and it opens no connection itself: the caller hands in the function
// that makes a request, so that every request passes the caller's own network
// rules. It imports internal/pause and internal/textcut and starts no goroutine; a
// Provider keeps no state and is safe for concurrent use. Keys are sent to the
// provider's own endpoint and appear in no error and no result, not even when the
// provider or the caller's function repeats them.
//
//	provider, err := websearch.New(websearch.Config{Type: "searxng", URL: "http://localhost:8888"})
//	if err != nil {
//		return err
//	}
//	results, err := provider.Search(ctx, do, "go context cancellation", 10)
//
// # Requirements
//
// R79 (query in, titles, URLs and snippets out), R81 (a provider is one of a
// configured list).
package websearch
