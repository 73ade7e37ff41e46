package export_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"acp-agent/export"
	"acp-agent/kinds"
	"acp-agent/store"
	"acp-agent/transcript"
)

// elements lists the elements that a page may contain, each with its permitted attributes.
var elements = map[string]string{
	"html": "lang", "head": "", "meta": "charset http-equiv content name", "title": "id", "style": "", "script": "", "body": "",
	"a": "class href rel title dir", "header": "", "main": "id tabindex aria-label", "footer": "", "nav": "class aria-labelledby", "search": "",
	"section": "class id aria-labelledby", "article": "class", "h1": "dir", "h2": "id", "h3": "class", "h4": "class", "h5": "class", "h6": "class",
	"dl": "class", "div": "class dir", "dt": "", "dd": "", "p": "class", "ul": "class", "ol": "start", "li": "class", "span": "class dir",
	"form": "id hidden", "label": "for class", "input": "id type autocomplete spellcheck", "button": "type id", "output": "id for aria-live",
	"details": "class open", "summary": "", "table": "class", "caption": "", "thead": "class", "tbody": "", "colgroup": "", "col": "class", "tr": "class", "th": "scope", "td": "class colspan",
	"code": "", "pre": "class", "strong": "", "em": "", "s": "", "del": "", "ins": "", "br": "", "hr": "", "blockquote": "", "img": "alt src",
	"svg": "class role aria-labelledby viewbox width height viewBox", "g": "", "rect": "class x y width height", "line": "x1 x2 y1 y2",
}

// parsed checks a page and returns its text: that it has no element or attribute but those above,
// loads nothing, and runs no script but its own.
func parsed(t testing.TB, text string) string {
	t.Helper()
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var policy string
	var inner []string // of scripts and styles
	var said strings.Builder
	ids := map[string]bool{}
	for n := range root.Descendants() {
		if n.Type == html.TextNode && n.Parent.Data != "script" && n.Parent.Data != "style" {
			said.WriteString(n.Data)
		}
		if n.Type != html.ElementNode {
			continue
		}
		allowed, known := elements[n.Data]
		if !known {
			t.Fatalf("element %s", n.Data)
		}
		for _, a := range n.Attr {
			checkAttribute(t, n.Data, a, strings.Fields(allowed))
			if a.Key == "id" && ids[a.Val] {
				t.Errorf("id %s is there twice", a.Val)
			}
			if a.Key == "id" {
				ids[a.Val] = true
			}
			if a.Key == "content" && strings.Contains(a.Val, "default-src") {
				policy = a.Val
			}
		}
		if n.Data == "script" || n.Data == "style" {
			inner = append(inner, n.FirstChild.Data)
		}
	}
	if len(inner) != 2 {
		t.Errorf("%d scripts and styles", len(inner))
	}
	for _, one := range inner {
		sum := sha256.Sum256([]byte(one))
		if source := "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(policy, source) {
			t.Errorf("the policy %q does not allow the page's own %.30q", policy, one)
		}
	}
	if !strings.HasPrefix(policy, "default-src 'none'; ") {
		t.Errorf("policy %q", policy)
	}
	return said.String()
}

func checkAttribute(t testing.TB, element string, a html.Attribute, allowed []string) {
	t.Helper()
	if !slices.Contains(allowed, a.Key) {
		t.Fatalf("%s has an attribute %s", element, a.Key)
	}
	switch a.Key {
	case "href":
		if !strings.HasPrefix(a.Val, "#") && !strings.HasPrefix(a.Val, "https://") && !strings.HasPrefix(a.Val, "http://") {
			t.Fatalf("%s leads to %q", element, a.Val)
		}
	case "src":
		if !strings.HasPrefix(a.Val, "data:image/") || strings.Contains(a.Val, "svg") {
			t.Fatalf("%s loads %q", element, a.Val)
		}
	}
}

// plainWords are the words of a text without the signs of Markdown.
func plainWords(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n*_`#|>[]()~-", r) })
}

func TestPage_HasEveryMessage(t *testing.T) {
	c := sample(t)
	said := parsed(t, written(t, export.HTML, c, export.Options{}))
	has := map[string]bool{}
	for _, word := range plainWords(said) {
		has[word] = true
	}
	var check func(m *transcript.Message)
	check = func(m *transcript.Message) {
		for _, part := range m.Parts {
			var want string
			switch p := part.(type) {
			case *transcript.TextPart:
				want = p.Text
			case *transcript.ReasoningPart:
				want = p.Text
			case *transcript.ResourcePart:
				want = p.Text
			case *transcript.ToolPart:
				want = p.Card.Title
				if p.Child != nil {
					for _, m := range p.Child.Messages() {
						check(m)
					}
				}
			}
			for _, word := range plainWords(want) {
				isSign := strings.Trim(word, "12.x") == "" || strings.HasPrefix(word, "https:") // the address of a link
				if !isSign && !has[word] && !strings.Contains(said, word) {
					t.Errorf("%s: the page does not have %q", m.ID, word)
				}
			}
		}
	}
	for m, err := range c.Messages {
		if err != nil {
			t.Fatal(err)
		}
		check(m)
	}
}

// hostile are texts that try to leave the place where they are written.
var hostile = []string{
	`<script>alert(1)</script>`, `</pre></details><img src=x onerror=alert(1)>`, `"><svg onload=alert(1)>`, `'"><iframe src=//evil.example>`,
	`</style><style>*{background:url(//evil.example)}`, `</title><script>`, `<!--`, `]]>`, `&lt;script&gt;`, `{{.}}`, "\x00\x1b[31m<b>\x1b]8;;javascript:alert(1)\x1b\\x\x1b]8;;\a",
	`[x](javascript:alert(1))`, `[x](data:text/html,<script>)`, `![x](https://evil.example/pixel.png)`, `<https://evil.example/"onmouseover="alert(1)>`,
	`https://evil.example/"onmouseover="alert(1)`, "```html\n<script>\n", "| a | b |\n|---|---|\n| <img src=x onerror=y> | `</code><script>` |", `**<b onclick=x>**`,
	"\u202egnp.exe\u2066", "~~~\n</pre>", "> > > > > > > > > deep\n- - - - - - - - x", "\xff\xfe", "[a](https://u:p@h.example/ \"t\")",
}

func TestPage_Hostile(t *testing.T) {
	for _, bad := range hostile {
		c := hostileConversation(bad)
		said := parsed(t, written(t, export.HTML, c, export.Options{}))
		if strings.ContainsAny(said, "\u202e\u2066\x1b") {
			t.Errorf("%q: a control character reaches the page", bad)
		}
		for _, f := range []export.Format{export.Markdown, export.Text} {
			if got := written(t, f, c, export.Options{}); strings.ContainsAny(got, "\u202e\u2066\x1b\x00") {
				t.Errorf("%q: a control character reaches %s", bad, f)
			}
		}
		for line := range strings.Lines(written(t, export.JSON, c, export.Options{})) {
			if !json.Valid([]byte(line)) {
				t.Errorf("%q: %q is not JSON", bad, line)
			}
		}
	}
}

// hostileConversation has a text in all places.
func hostileConversation(bad string) export.Conversation {
	log := transcript.NewLog(&transcript.Message{ID: bad, Role: transcript.Assistant, Model: bad, Parts: []transcript.Part{&transcript.TextPart{Text: bad}}})
	child := transcript.NewChild(transcript.ChildRecord{ID: bad, Agent: bad, Path: []string{bad}, State: transcript.ChildState(bad), Note: bad}, log)
	old := "a " + bad + "\nb\n"
	call := &transcript.ToolPart{
		CallID: "c", Name: bad, Tool: bad, Input: bad, State: transcript.State(bad), Text: bad, Shown: bad, Child: child,
		Card: kinds.Card{Kind: kinds.Kind(bad), Title: bad, Content: []kinds.Content{
			kinds.Text{Text: bad}, kinds.Diff{Path: bad, Old: &old, New: bad + "\n" + bad}, kinds.Image{MediaType: bad, Data: bad}, kinds.Image{MediaType: "image/png", Data: bad},
		}},
		Result: &transcript.Envelope{Type: transcript.Output}, Images: []transcript.ImagePart{{MediaType: "image/svg+xml", Data: "PHN2Zz4="}},
	}
	messages := []*transcript.Message{
		{ID: bad, Role: transcript.User, Parts: []transcript.Part{
			&transcript.TextPart{Text: bad}, &transcript.TextPart{Text: bad, Synthetic: true}, &transcript.LinkPart{URI: bad, Name: bad},
			&transcript.ResourcePart{URI: bad, Text: bad}, &transcript.ImagePart{MediaType: bad, Data: bad},
		}},
		{ID: bad, Role: transcript.Assistant, Model: bad, Usage: &transcript.Usage{Input: 1}, Parts: []transcript.Part{
			&transcript.ReasoningPart{Text: bad}, &transcript.TextPart{Text: bad}, call,
		}},
	}
	return export.Conversation{
		Info: store.Info{ID: bad, Title: bad, Cwd: bad, Model: bad, Mode: bad}, Plan: []transcript.PlanEntry{{Content: bad, Status: bad}},
		Messages: export.Collect(messages), Notes: []string{bad}, Decisions: map[string]export.Decision{"c": {Verdict: "deny", By: bad, Reason: bad}},
	}
}

func FuzzPage(f *testing.F) {
	for _, bad := range hostile {
		f.Add(bad)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := hostileConversation(text)
		parsed(t, written(t, export.HTML, c, export.Options{}))
		if err := export.Write(context.Background(), io.Discard, export.Markdown, c, export.Options{}); err != nil {
			t.Fatal(err)
		}
	})
}

// What is much is bounded: a page of a long conversation has one bar for several turns, a long
// change is cut, and large pictures are named.
func TestPage_Bounds(t *testing.T) {
	var messages []*transcript.Message
	for range 500 {
		messages = append(messages,
			&transcript.Message{Role: transcript.User, Parts: []transcript.Part{text("", "go on")}},
			&transcript.Message{Role: transcript.Assistant, Usage: &transcript.Usage{Input: 10, Output: 1}})
	}
	messages = append(messages, &transcript.Message{Role: transcript.Assistant, Parts: []transcript.Part{
		&transcript.ToolPart{State: transcript.Done, Card: kinds.Card{Content: []kinds.Content{
			kinds.Diff{Path: "/a", New: strings.Repeat("line\n", 5000)},
			kinds.Image{MediaType: "image/png", Data: strings.Repeat("AAAA", 2<<20)},
		}}},
	}})
	page := written(t, export.HTML, export.Conversation{Messages: export.Collect(messages)}, export.Options{})
	said := parsed(t, page)
	if n := strings.Count(page, "<rect"); n > 300 || n == 0 {
		t.Errorf("%d rectangles", n)
	}
	for _, want := range []string{"Turns 1 to 5", "4000 lines more are not shown", "a picture, image/png, 6144 KB"} {
		if !strings.Contains(said, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if len(page) > 1<<20 {
		t.Errorf("the page has %d bytes", len(page))
	}
}
