package store_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"acp-agent/kinds"
	"acp-agent/store"
	"acp-agent/transcript"
)

// library stores sessions of a title each, the first one the oldest, and returns the directory.
func library(t testing.TB, titles ...string) (*store.Store, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "sessions")
	s := store.New(store.Options{Dir: dir})
	for i, title := range titles {
		id := fmt.Sprintf("ses_%03d", i)
		where := cwd
		if i%3 == 2 {
			where = "/else/where"
		}
		r := s.Create(store.Info{ID: id, Cwd: where}, fail(t))
		say(r, "msg_1", "about "+title)
		r.Emit(transcript.TitleChanged{Title: title})
		answer(r, "msg_2", strings.Repeat("filler ", 2000))
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		when := time.Now().Add(time.Duration(i-len(titles)) * time.Hour)
		if err := os.Chtimes(filepath.Join(dir, id+".jsonl"), when, when); err != nil {
			t.Fatal(err)
		}
	}
	return s, dir
}

func ids(page store.Page) []string {
	var list []string
	for _, info := range page.Sessions {
		list = append(list, info.ID)
	}
	return list
}

func TestStore_ListInPages(t *testing.T) {
	titles := make([]string, 150)
	for i := range titles {
		titles[i] = fmt.Sprint("title ", i)
	}
	s, dir := library(t, titles...)
	for name, o := range map[string]store.ListOptions{"all": {Limit: 40}, "one directory": {Limit: 40, Cwd: "/else/where"}} {
		for _, cached := range []bool{false, true} {
			if !cached {
				_ = os.Remove(filepath.Join(dir, "list.cache"))
				s = store.New(store.Options{Dir: dir})
			}
			var got []string
			for pages := 0; ; pages++ {
				page, err := s.List(o)
				if err != nil || pages > 5 {
					t.Fatal(err)
				}
				for _, info := range page.Sessions {
					if info.Title == "" || info.Updated.IsZero() || o.Cwd != "" && info.Cwd != o.Cwd {
						t.Errorf("%s: %+v", name, info)
					}
				}
				got = append(got, ids(page)...)
				if o.Cursor = page.Next; page.Next == "" {
					break
				}
			}
			want := 150
			if o.Cwd != "" {
				want = 50
			}
			if !slices.IsSortedFunc(got, func(a, b string) int { return strings.Compare(b, a) }) || len(slices.Compact(got)) != want {
				t.Errorf("%s, cached: %v: %d sessions, want %d: %v", name, cached, len(got), want, got)
			}
		}
	}
}

func TestStore_ListFollowsChanges(t *testing.T) {
	s, dir := library(t, "a", "b")
	if _, err := s.List(store.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	r, err := s.Open("ses_000", fail(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Resume(t.Context(), at, nil); err != nil {
		t.Fatal(err)
	}
	r.Emit(transcript.TitleChanged{Title: "changed"})
	say(r, "msg_9", "more")
	page, err := s.List(store.ListOptions{})
	if err != nil || !slices.Equal(ids(page), []string{"ses_000", "ses_001"}) || page.Sessions[0].Title != "changed" {
		t.Errorf("List = %+v, %v", page, err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if err := s.Delete("ses_001"); err != nil {
		t.Error(err)
	}
	if page, err = s.List(store.ListOptions{}); err != nil || !slices.Equal(ids(page), []string{"ses_000"}) {
		t.Errorf("after Delete: %+v, %v", page, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "list.cache"), []byte("garbage\n{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if page, err = store.New(store.Options{Dir: dir}).List(store.ListOptions{}); err != nil || len(page.Sessions) != 1 {
		t.Errorf("with a damaged cache: %+v, %v", page, err)
	}
}

// TestStore_ListOfTwoProcesses changes sessions through one store, and lists them through one that
// has a cache and one that reads its file.
func TestStore_ListOfTwoProcesses(t *testing.T) {
	titles := make([]string, 70) // enough for a cache file
	for i := range titles {
		titles[i] = fmt.Sprint("title ", i)
	}
	writer, dir := library(t, titles...)
	reader := store.New(store.Options{Dir: dir})
	check := func(step, first, title string, want int) {
		t.Helper()
		for _, s := range []*store.Store{reader, store.New(store.Options{Dir: dir})} {
			page, err := s.List(store.ListOptions{Limit: 100})
			if err != nil || len(page.Sessions) != want || page.Sessions[0].ID != first || page.Sessions[0].Title != title {
				t.Errorf("%s: %d sessions, %v; first %+v", step, len(page.Sessions), err, page.Sessions[0])
			}
		}
	}
	check("new", "ses_069", "title 69", 70)
	r, err := writer.Open("ses_005", fail(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Resume(t.Context(), at, nil); err != nil {
		t.Fatal(err)
	}
	check("opened", "ses_069", "title 69", 70)
	r.Emit(transcript.TitleChanged{Title: "changed"})
	say(r, "msg_9", "more")
	check("written", "ses_005", "changed", 70)
	r.Emit(transcript.TitleChanged{Title: "again"})
	say(r, "msg_10", "more")
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	check("closed", "ses_005", "again", 70)
	check("unchanged", "ses_005", "again", 70)
	if err := writer.Delete("ses_069"); err != nil {
		t.Fatal(err)
	}
	check("deleted", "ses_005", "again", 69)
	// Something else restores an old file with the same name.
	data, err := os.ReadFile(filepath.Join(dir, "ses_004.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "ses_004.jsonl"), data[:len(data)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	check("restored", "ses_005", "again", 69)
	if err := os.Remove(filepath.Join(dir, "list.opened")); err != nil {
		t.Fatal(err)
	}
	check("without the log", "ses_004", "", 69)
}

func TestStore_ListRefusesCursors(t *testing.T) {
	s, _ := library(t, "a")
	for _, cursor := range []string{"!", "YWJj", "MSAuLi9hYg"} {
		if _, err := s.List(store.ListOptions{Cursor: cursor}); !errors.Is(err, store.ErrCursor) {
			t.Errorf("%q: %v", cursor, err)
		}
	}
}

// TestStore_ListFindsTheTitleOfALongTurn has no record of the session near the end of its file.
func TestStore_ListFindsTheTitleOfALongTurn(t *testing.T) {
	s := open(t)
	r := s.Create(store.Info{ID: "ses_x", Cwd: cwd, Title: "long"}, fail(t))
	say(r, "msg_1", "hello")
	for i := range 30 {
		r.Emit(transcript.StepStarted{MessageID: "msg_2", At: at})
		call(r, "msg_2", fmt.Sprint("call", i), kinds.Read, strings.Repeat("x", 10_000+i*1000))
	}
	page, err := s.List(store.ListOptions{})
	if err != nil || len(page.Sessions) != 1 || page.Sessions[0].Title != "long" || page.Sessions[0].Cwd != cwd {
		t.Errorf("%+v, %v", page, err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

func TestStore_Search(t *testing.T) {
	s, _ := library(t, "Émile and the Lighthouse", "a lighthouse in \"quotes\"", "密码 of the tower", "nothing")
	tests := []struct{ text, cwd, want string }{
		{"lighthouse", "", "ses_001 ses_000"},
		{"LIGHTHOUSE", "", "ses_001 ses_000"},
		{"lighthouse", "/else/where", ""},
		{"the lighthouse", "", "ses_000"},
		{`"the lighthouse"`, "", "ses_000"},
		{`"lighthouse the"`, "", ""},
		{"émile", "", "ses_000"},
		{"密码", "", "ses_002"},
		{"ABOUT", "", "ses_003 ses_002 ses_001 ses_000"},
		{"call_id", "", ""},
		{"type", "", ""},
		{"", "", ""},
	}
	for _, tt := range tests {
		hits, err := s.Search(t.Context(), store.Query{Text: tt.text, Cwd: tt.cwd})
		var got []string
		for _, hit := range hits {
			got = append(got, hit.Session.ID)
			if hit.MessageID != "msg_1" || !hit.User || hit.Snippet == "" || hit.Session.Title == "" {
				t.Errorf("%q: %+v", tt.text, hit)
			}
		}
		if err != nil || strings.Join(got, " ") != tt.want {
			t.Errorf("%q in %q: %q, %v; want %q", tt.text, tt.cwd, got, err, tt.want)
		}
	}
	if hits, err := s.Search(t.Context(), store.Query{Text: "about", Limit: 2}); len(hits) != 2 || err != nil {
		t.Errorf("with a limit: %d, %v", len(hits), err)
	}
}

func TestStore_SearchFindsToolCalls(t *testing.T) {
	s := open(t)
	r := s.Create(store.Info{ID: "ses_x", Cwd: cwd}, fail(t))
	say(r, "msg_1", "hello")
	r.Emit(transcript.StepStarted{MessageID: "msg_2", At: at})
	r.Emit(transcript.ToolStarted{MessageID: "msg_2", CallID: "c", Name: "bash", Tool: "bash"})
	r.Emit(transcript.ToolReady{CallID: "c", Tool: "bash", Input: `{"command":"grep \"needle\" hay"}`})
	r.Emit(transcript.ToolFinished{CallID: "c", State: transcript.Done, Text: "found the thimble"})
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"needle", "thimble", `grep needle`} {
		hits, err := s.Search(t.Context(), store.Query{Text: text})
		if err != nil || len(hits) != 1 || hits[0].MessageID != "msg_2" || hits[0].User {
			t.Errorf("%s: %+v, %v", text, hits, err)
		}
	}
}
