// Package bm25 ranks short texts against a query of words: the index behind
// tool_search.
//
// It owns how names and prose are split into terms (snake_case, camelCase,
// dots and dashes, a little plural stemming) and the BM25 formula. It does not
// know what the documents are, nor what happens with a hit. It imports the
// standard library alone, touches no disk and starts no goroutine. An Index is
// built once and then only read, so it is safe for concurrent use.
//
//	index := bm25.New([]bm25.Document{
//		{ID: "mcp__github__create_issue", Text: "Open an issue in a repository"},
//		{ID: "mcp__mail__send", Text: "Send a message"},
//	})
//	for _, hit := range index.Search("github issues", 10) {
//		fmt.Println(hit.ID)
//	}
//
// # Requirements
//
// R87 (tool_search ranks by keywords with BM25).
package bm25
