package builtin

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/tools"
	"acp-agent/tools/tooltest"
)

// stored are conversations for a test.
type stored struct {
	list  []tools.Thread
	asked string
	limit int
}

func (s *stored) Find(_ context.Context, query string, limit int) ([]tools.Thread, error) {
	s.asked, s.limit = query, limit
	return s.list, nil
}

func (s *stored) Read(_ context.Context, id string) (tools.Thread, string, error) {
	for _, t := range s.list {
		if t.ID == id {
			return t, "› What is it?\n\nA cart.\n", nil
		}
	}
	return tools.Thread{}, "", tools.Errorf(tools.BadInput, "none")
}

func TestFindThread(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	one := tools.Thread{ID: "ses_1", Title: "The\ncart", Updated: at, Turns: 2, Found: []string{"…a cart…"}}
	from := &stored{list: []tools.Thread{one}}
	rt := tooltest.New(tooltest.Options{})
	rt.Serve.Threads = from

	result, err := rt.Run(t.Context(), newFindThread(), "find_thread", `{"query":" cart ","limit":1000}`)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(findThreadData{[]tools.Thread{one}}, result.Data); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if want := "ses_1 The cart (2026-01-02 03:04:05, 2 turns)\n  …a cart…"; result.Text != want || from.asked != "cart" || from.limit != maxThreads {
		t.Errorf("text %q, asked %q for %d", result.Text, from.asked, from.limit)
	}

	from.list = nil
	if result, err = rt.Run(t.Context(), newFindThread(), "find_thread", `{}`); err != nil || from.limit != defaultThreads || !strings.Contains(result.Text, "No earlier conversation") {
		t.Errorf("%+v, %v", result, err)
	}
}
