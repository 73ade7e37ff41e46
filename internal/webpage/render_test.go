package webpage

import (
	"context"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// asked counts how often it is asked whether it has ended.
type asked struct {
	context.Context
	times int
}

func (a *asked) Err() error {
	a.times++
	return a.Context.Err()
}

// TestRender_LongText: between the pieces of a long text a cancel is heeded, and they are one text in
// the end.
func TestRender_LongText(t *testing.T) {
	t.Parallel()
	const pieces = 20
	words := strings.Repeat("some words ", pieces*maxText/11)
	doc, err := html.Parse(strings.NewReader("<p>" + words))
	if err != nil {
		t.Fatal(err)
	}
	p := pruning{}
	p.prune(doc, place{})
	ctx := &asked{Context: t.Context()}
	text, ok := render(ctx, doc, p.nodes)
	if !ok || text != strings.TrimSpace(words) {
		t.Errorf("rendered: %v, %d bytes of %d", ok, len(text), len(words))
	}
	if ctx.times < pieces {
		t.Errorf("the context was asked %d times", ctx.times)
	}
}
