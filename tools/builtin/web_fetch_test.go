package builtin_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/tools/builtin"
	"acp-agent/tools/tooltest"
	"acp-agent/transcript"
)

const pageURL = "https://example.com/a"

// onePage is a runtime whose network has one page.
func onePage(o tooltest.Options, response tools.Response) *tooltest.Runtime {
	rt := tooltest.New(o)
	rt.Web = tooltest.NetFunc(func(_ context.Context, r tools.Request) (*tools.Response, error) {
		if response.URL == "" {
			response.URL = r.URL
		}
		return &response, nil
	})
	return rt
}

// noPage is a runtime whose network fails.
func noPage(err error) *tooltest.Runtime {
	rt := tooltest.New(tooltest.Options{})
	rt.Web = tooltest.NetFunc(func(context.Context, tools.Request) (*tools.Response, error) { return nil, err })
	return rt
}

// fetch runs web_fetch for one page.
func fetch(t *testing.T, rt *tooltest.Runtime) *tools.Result {
	t.Helper()
	result, err := rt.Run(t.Context(), builtin.NewWebFetch(), "web_fetch", encode(t, map[string]any{"url": pageURL}))
	if err != nil {
		t.Fatal(err)
	}
	if result.Depends == nil {
		t.Error("Depends is nil: the result would not be kept")
	}
	return result
}

// fetchFails runs web_fetch for one page, which must fail.
func fetchFails(t *testing.T, rt *tooltest.Runtime, url string) *tools.Error {
	t.Helper()
	result, err := rt.Run(t.Context(), builtin.NewWebFetch(), "web_fetch", encode(t, map[string]any{"url": url}))
	failure, ok := errors.AsType[*tools.Error](err)
	if !ok {
		t.Fatalf("web_fetch(%s) = %+v, %v; want a *tools.Error", url, result, err)
	}
	return failure
}

// unlabelled is a text with the random part of its labels checked and left out.
func unlabelled(t *testing.T, text string) string {
	t.Helper()
	ids := regexp.MustCompile(` id="([0-9a-f]{16})"`)
	found := ids.FindAllStringSubmatch(text, -1)
	if len(found) != 2 || found[0][1] != found[1][1] {
		t.Errorf("labels %v in %q, want two alike", found, text)
	}
	return ids.ReplaceAllString(text, "")
}

func TestWebFetch_Conform(t *testing.T) {
	t.Parallel()
	tooltest.Conform(t, builtin.NewWebFetch())
}

func TestWebFetch_Results(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		response tools.Response
		data     map[string]any
		text     string
	}{
		{
			"page",
			tools.Response{
				Status: 200, ContentType: "text/html",
				Body: []byte(`<title>The &lt;title&gt;</title><h1>Head</h1><p>See <a href="b?c">this</a>.<script>no</script>`),
			},
			map[string]any{"url": pageURL, "title": "The <title>", "content": "# Head\n\nSee [this](https://example.com/b?c)."},
			"<web_page url=\"https://example.com/a\">\nTitle: The <title>\n\n# Head\n\nSee [this](https://example.com/b?c).\n</web_page>",
		},
		{
			"last hop",
			tools.Response{URL: "https://example.com/z/", Status: 200, ContentType: "text/html", Body: []byte(`<a href="b">this</a>`)},
			map[string]any{"url": "https://example.com/z/", "content": "[this](https://example.com/z/b)"},
			"<web_page url=\"https://example.com/z/\">\n[this](https://example.com/z/b)\n</web_page>",
		},
		{
			"plain",
			tools.Response{Status: 200, ContentType: "text/plain", Body: []byte("a\r\nb\x1b[2J")},
			map[string]any{"url": pageURL, "content": "a\nb[2J"},
			"<web_page url=\"https://example.com/a\">\na\nb[2J\n</web_page>",
		},
		{
			"nothing",
			tools.Response{Status: 204},
			map[string]any{"url": pageURL, "content": ""},
			"<web_page url=\"https://example.com/a\">\n\n</web_page>\n[the page holds no text]",
		},
		{
			"odd status, cut on the way",
			tools.Response{Status: 300, ContentType: "text/plain", Body: []byte("abc"), Cut: true},
			map[string]any{"url": pageURL, "content": "abc"},
			"<web_page url=\"https://example.com/a\">\nabc\n</web_page>\n[the server answered with status 300]\n[the answer is longer than 3 bytes; what follows them was not fetched]",
		},
		{
			"no text",
			tools.Response{Status: 200, ContentType: "application/zip", Body: []byte("PK\x03\x04\x00")},
			map[string]any{"url": pageURL, "content": "[application/zip, 5 bytes, which cannot be shown as text]"},
			"<web_page url=\"https://example.com/a\">\n[application/zip, 5 bytes, which cannot be shown as text]\n</web_page>",
		},
		{
			"picture that was cut",
			tools.Response{Status: 200, ContentType: "image/png", Body: []byte("\x89PNG\r\n\x1a\nabc"), Cut: true},
			map[string]any{"url": pageURL, "content": "[image/png, which is too large to show]"},
			"<web_page url=\"https://example.com/a\">\n[image/png, which is too large to show]\n</web_page>\n[the answer is longer than 11 bytes; what follows them was not fetched]",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			result := fetch(t, onePage(tooltest.Options{}, tt.response))
			if diff := cmp.Diff(tt.data, data(t, result)); diff != "" {
				t.Errorf("data (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.text, unlabelled(t, result.ModelText())); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
			if result.Truncated || result.OutputPath != "" || result.Images != nil {
				t.Errorf("result = %+v", result)
			}
		})
	}
}

// A page cannot guess the label that ends it.
func TestWebFetch_LabelIsRandom(t *testing.T) {
	t.Parallel()
	rt := onePage(tooltest.Options{}, tools.Response{Status: 200, ContentType: "text/plain", Body: []byte("x")})
	if a, b := fetch(t, rt).ModelText(), fetch(t, rt).ModelText(); a == b {
		t.Errorf("two calls have the same label: %s", a)
	}
}

func TestWebFetch_Image(t *testing.T) {
	t.Parallel()
	const gif = "GIF89a and more"
	result := fetch(t, onePage(tooltest.Options{}, tools.Response{Status: 200, ContentType: "text/html", Body: []byte(gif)}))
	encoded := base64.StdEncoding.EncodeToString([]byte(gif))
	if diff := cmp.Diff([]transcript.ImagePart{{MediaType: "image/gif", Data: encoded}}, result.Images); diff != "" {
		t.Errorf("images (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]kinds.Content{kinds.Image{MediaType: "image/gif", Data: encoded}}, result.Content); diff != "" {
		t.Errorf("content (-want +got):\n%s", diff)
	}
	if got := data(t, result)["content"]; got != "[image/gif image, 15 bytes]" {
		t.Errorf("content = %q", got)
	}
}

// The bound is on the text, not on the page; what is exactly as long is whole,
// and no character is split (R105, R108).
func TestWebFetch_Limit(t *testing.T) {
	t.Parallel()
	for profile, limits := range profiles() {
		tests := []struct {
			name, page string
			kept       int
		}{
			{"exactly", strings.Repeat("a", limits.FetchBytes), -1},
			{"one more", strings.Repeat("a", limits.FetchBytes+1), limits.FetchBytes},
			{"character at the end", strings.Repeat("a", limits.FetchBytes-1) + "é", limits.FetchBytes - 1},
		}
		for _, tt := range tests {
			t.Run(profile+"/"+tt.name, func(t *testing.T) {
				t.Parallel()
				rt := onePage(tooltest.Options{Limits: &limits}, tools.Response{
					Status: 200, ContentType: "text/html", Body: []byte("<p>" + tt.page + "<script>" + strings.Repeat("x", 300_000) + "</script>"),
				})
				result := fetch(t, rt)
				if tt.kept < 0 {
					if result.Truncated || len(rt.Sidecars()) != 0 || data(t, result)["content"] != tt.page {
						t.Errorf("truncated %t, sidecars %d", result.Truncated, len(rt.Sidecars()))
					}
					return
				}
				if head := data(t, result)["head"]; head != tt.page[:tt.kept] || !result.Truncated {
					t.Errorf("head of %d bytes, truncated %t; want %d", len(head.(string)), result.Truncated, tt.kept)
				}
				if rt.Sidecars()[result.OutputPath] != tt.page {
					t.Errorf("%q does not hold the whole page", result.OutputPath)
				}
				note := fmt.Sprintf("[the first %d of %d bytes; the whole page is in %s]", tt.kept, len(tt.page), result.OutputPath)
				if !strings.HasSuffix(result.ModelText(), note) {
					t.Errorf("text does not end with %q", note)
				}
			})
		}
	}
}

func TestWebFetch_Redirect(t *testing.T) {
	t.Parallel()
	result := fetch(t, onePage(tooltest.Options{}, tools.Response{Status: 301, Redirect: "https://other.example/b"}))
	const want = "https://example.com/a redirects to https://other.example/b; call web_fetch with it if you want it."
	if result.ModelText() != want || data(t, result)["redirect"] != "https://other.example/b" {
		t.Errorf("text = %q, data = %v", result.ModelText(), result.Data)
	}
}

func TestWebFetch_Status(t *testing.T) {
	t.Parallel()
	tests := []struct {
		status int
		want   string
	}{
		{401, "not open to the public"},
		{403, "not open to the public"},
		{404, "no such page"},
		{429, "do not repeat"},
		{500, ""},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.status), func(t *testing.T) {
			t.Parallel()
			body := "<p>The server says so.</p>" + strings.Repeat("<p>abc</p>", builtin.WebExtract)
			failure := fetchFails(t, onePage(tooltest.Options{}, tools.Response{Status: tt.status, ContentType: "text/html", Body: []byte(body)}), pageURL)
			text := unlabelled(t, failure.Error())
			first := fmt.Sprintf("web_fetch: https://example.com/a answered with status %d\n", tt.status)
			if failure.Kind != tools.Backend || !strings.HasPrefix(text, first) || !strings.Contains(text, tt.want) ||
				!strings.Contains(text, "The server says so.") || len(text) > builtin.WebExtract+500 {
				t.Errorf("kind %s, text %q", failure.Kind, text)
			}
		})
	}
}

func TestWebFetch_Failures(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		err  error
		kind tools.ErrorKind
		want string
	}{
		{"refused", tools.Errorf(tools.Denied, "not this host"), tools.Denied, "not this host"},
		{"slow", tools.Errorf(tools.Timeout, "no complete answer within 15s"), tools.Timeout, "no complete answer within 15s"},
		{"another", errors.New("no such host"), tools.Backend, "web_fetch: https://example.com/a: no such host"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			failure := fetchFails(t, noPage(tt.err), pageURL)
			if failure.Kind != tt.kind || failure.Error() != tt.want || !errors.Is(failure, tt.err) {
				t.Errorf("failure = %s, %q", failure.Kind, failure)
			}
		})
	}
}

// An address that is none is refused before the network is asked.
func TestWebFetch_BadAddress(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"", "example.com", "ftp://example.com/", "http://u:p@example.com/", "http://0x7f.1/", "file:///etc/passwd"} {
		failure := fetchFails(t, noPage(errors.New("the network was asked")), url)
		if failure.Kind != tools.BadInput || strings.Contains(failure.Error(), "asked") {
			t.Errorf("%q: %s, %q", url, failure.Kind, failure)
		}
		// It has no host that a user could be asked about, so it must not get
		// that far.
		args, _ := json.Marshal(map[string]string{"url": url})
		_, err := builtin.NewWebFetch().Preview(t.Context(), nil, tools.NewArgs(args))
		if failure, ok := errors.AsType[*tools.Error](err); !ok || failure.Kind != tools.BadInput {
			t.Errorf("%q would be asked about: %v", url, err)
		}
	}
}

func TestWebFetch_Spec(t *testing.T) {
	t.Parallel()
	tool := builtin.NewWebFetch()
	tests := []struct {
		name, call, args, url string
		resources             []tools.Resource
	}{
		{"plain", "web_fetch", `{"url":" https://Example.COM./a \n"}`, "https://Example.COM./a", []tools.Resource{{Kind: tools.Host, Value: "example.com", URL: "https://example.com/a"}}},
		{"alias", "read_web_page", `{"uri":"http://bücher.example"}`, "http://bücher.example", []tools.Resource{{Kind: tools.Host, Value: "xn--bcher-kva.example", URL: "http://xn--bcher-kva.example/"}}},
		{"address", "web_fetch", `{"url":"http://[::ffff:7f00:1]:81/"}`, "http://[::ffff:7f00:1]:81/", []tools.Resource{{Kind: tools.Host, Value: "127.0.0.1", URL: "http://127.0.0.1:81/"}}},
		{"malformed", "web_fetch", `{"url":"http://127.1/"}`, "http://127.1/", []tools.Resource{{Kind: tools.Host, URL: "http://127.1/"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, ready, err := tooltest.Prepare(tool, tt.call, tt.args, tools.Env{})
			if err != nil {
				t.Fatal(err)
			}
			var got struct{ URL string }
			if err := json.Unmarshal(ready.Raw(), &got); err != nil || got.URL != tt.url {
				t.Errorf("url = %q, %v; want %q", got.URL, err, tt.url)
			}
			if diff := cmp.Diff(tt.resources, tool.Resources(ready, tools.Env{})); diff != "" {
				t.Errorf("resources (-want +got):\n%s", diff)
			}
		})
	}
}
