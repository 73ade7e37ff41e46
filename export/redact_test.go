package export_test

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"acp-agent/export"
	"acp-agent/kinds"
	"acp-agent/store"
	"acp-agent/transcript"
)

// private are texts as they occur in conversations, each with what must not be left of it.
var private = []struct{ text, gone string }{
	{"see /home/ann/src/shop/cart/cart.go:12", "ann"},
	{`{"path":"\/home\/ann\/src\/shop\/a.go"}`, "ann"},
	{"cd ~/src/shop && ls ~/secret-client/plan", "secret-client"},
	{"/home/ann/secret-client/plan.md and /home/ann", "secret-client"},
	{"/home/ann/src/shop2/main.go is another project", "shop2"},
	{"-home-ann-src-shop/session.json", "ann"},
	{"-I/opt/acmecorp/include -L/opt/acmecorp/lib", "acmecorp"},
	{"PATH=/opt/acmecorp/bin:/usr/bin", "acmecorp"},
	{`"/srv/acmecorp/data.csv", (/srv/acmecorp/b.csv)`, "acmecorp"},
	{"#include </opt/acmecorp/x.h>", "acmecorp"},
	{`C:\Users\Ann\acmecorp\main.go and c:/Users/ann/acmecorp`, "acmecorp"},
	{`{"dir":"C:\\Users\\ann\\acmecorp"}`, "acmecorp"},
	{`\\fileserver\acmecorp\plan.doc`, "acmecorp"},
	{"file:///home/ann/acmecorp/My%20Plan.md", "acmecorp"},
	{"git clone git@git.acmecorp.internal:shop/shop.git", "acmecorp"},
	{"https://user:pw@git.acmecorp.internal:8443/shop?q=acmecorp#x.", "acmecorp"},
	{`{"url":"https:\/\/git.acmecorp.internal\/shop"}`, "acmecorp"},
	{"[the wiki](https://wiki.acmecorp.internal/page).", "acmecorp"},
	{"ssh ann@buildbox:~/work", "buildbox"},
	{"the host wiki.acmecorp.internal answers on port 8443, WIKI.acmecorp.internal too", "acmecorp"},
	{"registry: registry.acmecorp.com:5000/shop", "acmecorp"},
	{"ann.example@acmecorp.co.uk and Ann <ann+x@acmecorp.com>", "acmecorp"},
	{"ping 203.0.113.7 203.0.113.8, [2001:db8::7]:443 fe80::1%eth0", "203.0.113"},
	{"connect to 2001:db8:0:0:0:0:0:7", "2001:db8"},
	{"-rw-r--r-- 1 ann ann 12 a.go", "ann"},
	{"ann@annslaptop:~$ uname -n\nannslaptop", "annslaptop"},
}

// kept are texts that say nothing of where a conversation took place.
var kept = []string{
	"Fix internal/cart/cart.go:12 and README.md", "either/or, 1/2, a // comment, </div><br/>", "std::vector<int> at 12:30:59, version 1.2.3",
	"npm i lodash@4.17.21 @types/node golang.org_x_net@v0.62.0", "fmt.Println(os.Args) main.rs run.sh setup.py", "http on localhost:8080 and 127.0.0.1, /export /undo",
	"s/a/b/ and ${x}/y/z and **/*.go and ../a/b", "annotation planned cannot",
}

func redacted(t *testing.T, text string) export.Conversation {
	t.Helper()
	old := text
	child := transcript.NewChild(transcript.ChildRecord{
		ID: "ses_c", Path: []string{"explore"}, Prompt: text, Note: text, Output: text, Metadata: map[string]any{text: []any{text}},
	}, transcript.NewLog(&transcript.Message{ID: "m", Role: transcript.Assistant, Finished: true, Parts: []transcript.Part{&transcript.TextPart{Text: text}}}))
	input, err := json.Marshal(map[string]string{"cmd": text})
	if err != nil {
		t.Fatal(err)
	}
	call := &transcript.ToolPart{
		CallID: "c", Name: "bash", Input: string(input), State: transcript.Done, Text: text, Shown: text, Printed: text, Child: child,
		Card: kinds.Card{Kind: kinds.Edit, Title: text, Locations: []kinds.Location{{Path: text}}, Content: []kinds.Content{
			kinds.Text{Text: text}, kinds.Diff{Path: "/x", Old: &old, New: text},
		}},
		Result: &transcript.Envelope{Type: transcript.Output, Data: input, ErrorText: text, Metadata: transcript.Metadata{TrackFiles: []string{text}, OutputPath: text}},
		Images: []transcript.ImagePart{{MediaType: "image/png", Data: dot, URI: text}},
	}
	messages := []*transcript.Message{
		{ID: "m1", Role: transcript.User, Parts: []transcript.Part{
			&transcript.TextPart{Text: text}, &transcript.LinkPart{URI: text, Name: text, Title: text, Description: text}, &transcript.ResourcePart{URI: text, Text: text},
			&transcript.ImagePart{MediaType: "image/png", Data: dot, URI: text},
		}},
		{ID: "m2", Role: transcript.Assistant, Model: text, Origin: text, Parts: []transcript.Part{&transcript.ReasoningPart{Text: text}, &transcript.TextPart{Text: text}, call}},
	}
	return export.Conversation{
		Info: store.Info{ID: "ses_x", Title: text, Cwd: cwd, Additional: []string{"/home/ann/src/lib"}}, Plan: []transcript.PlanEntry{{Content: text}},
		Messages: export.Collect(messages), Notes: []string{text}, Decisions: map[string]export.Decision{"c": {Verdict: "allow", By: "rule:" + text, Reason: text}},
	}
}

func TestRedaction_NothingIsLeft(t *testing.T) {
	o := export.Options{Redact: &export.Redaction{Home: "/home/ann", User: "ann", Host: "annslaptop"}, Thoughts: true}
	for _, test := range private {
		for _, f := range formats {
			got := strings.ToLower(afterHead(written(t, f, redacted(t, test.text), o)))
			got = strings.NewReplacer("cannot", "", "annotat", "", "scann", "", "planned", "").Replace(got)
			if at := strings.Index(got, test.gone); at >= 0 {
				t.Errorf("%s of %q: %q is left: …%s…", f, test.text, test.gone, got[max(0, at-60):min(len(got), at+60)])
			}
			if strings.Contains(got, dot[:20]) {
				t.Errorf("%s: the picture is left", f)
			}
		}
	}
}

// afterHead is a page without its own style and script.
func afterHead(page string) string {
	if _, body, ok := strings.Cut(page, "<body>"); ok {
		body, _, _ = strings.Cut(body, "<script>")
		return body
	}
	return page
}

func TestRedaction_KeepsTheRest(t *testing.T) {
	o := export.Options{Redact: &export.Redaction{Home: "/home/ann", User: "ann", Host: "annslaptop"}}
	for _, text := range kept {
		c := export.Conversation{Info: store.Info{Cwd: cwd}, Messages: export.Collect([]*transcript.Message{
			{ID: "m", Role: transcript.User, Parts: []transcript.Part{&transcript.TextPart{Text: text}}},
		})}
		encoded, _ := json.Marshal(text)
		want := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(encoded))
		if got := written(t, export.JSON, c, o); !strings.Contains(got, want) {
			t.Errorf("%q became %s", text, got)
		}
	}
}

// A thing has one label, wherever it stands, and what is below the session's directory stays.
func TestRedaction_Labels(t *testing.T) {
	c := redacted(t, "/home/ann/src/shop/cart.go, https://a.acmecorp.dev/x then a.acmecorp.dev; /home/ann/src/lib/l.go; mail to ann@acmecorp.dev")
	got := written(t, export.JSON, c, export.Options{Redact: &export.Redaction{Home: "/home/ann"}})
	if want := "[project]/cart.go, [url-1] then [host-1]; [project-2]/l.go; mail to [email-1]"; !strings.Contains(got, want) {
		t.Errorf("%q is not in %s", want, got)
	}
	if strings.Contains(got, "-2] then") {
		t.Errorf("two labels of one thing: %s", got)
	}
}

// A session of another user's home directory, exported by another user, does not say whose it
// was: a listing of files names the owner.
func TestRedaction_OwnerOfTheDirectory(t *testing.T) {
	for _, dir := range []string{"/home/marco/src/shop", "/Users/marco/shop", `C:\Users\marco\shop`} {
		text := "-rw-rw-r-- 1 marco marco 2511 Feb 11 21:38 shop.ex, of Marco"
		c := export.Conversation{Info: store.Info{ID: "ses_x", Cwd: dir}, Messages: func(yield func(*transcript.Message, error) bool) {
			yield(&transcript.Message{ID: "m", Role: transcript.User, Parts: []transcript.Part{&transcript.TextPart{Text: text}}}, nil)
		}}
		for _, f := range []export.Format{export.JSON, export.Markdown, export.HTML} {
			got := written(t, f, c, export.Options{Redact: &export.Redaction{User: "root"}})
			if strings.Contains(strings.ToLower(got), "marco") || !strings.Contains(got, "shop.ex") {
				t.Errorf("%s, %s: %s", dir, f, got)
			}
		}
	}
}

func BenchmarkRedaction(b *testing.B) {
	var text strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&text, "internal/cart/cart_%d.go:%d:\tif err := cart.Add(ctx, item); err != nil { return fmt.Errorf(\"add: %%w\", err) }\n", i, i)
		if i%50 == 0 {
			text.WriteString("GET https://shop.acmecorp.internal/api/v1/items 203.0.113.7 /home/ann/src/shop/cart/cart.go\n")
		}
	}
	m := &transcript.Message{ID: "m", Role: transcript.Assistant, Finished: true, Parts: []transcript.Part{&transcript.TextPart{Text: text.String()}}}
	c := export.Conversation{
		Info:     store.Info{ID: "ses_1", Cwd: "/home/ann/src/shop"},
		Messages: func(yield func(*transcript.Message, error) bool) { yield(m, nil) },
	}
	o := export.Options{Redact: &export.Redaction{Home: "/home/ann", User: "ann", Host: "annslaptop"}}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		if err := export.Write(b.Context(), io.Discard, export.JSON, c, o); err != nil {
			b.Fatal(err)
		}
	}
}
