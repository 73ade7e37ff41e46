package builtin

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"acp-agent/capability"
	"acp-agent/internal/network"
	"acp-agent/internal/textcut"
	"acp-agent/internal/webpage"
	"acp-agent/kinds"
	"acp-agent/tools"
)

// webExtract is how much of the page of a failure is shown, in bytes. The bound
// of what one call returns is Limits.FetchBytes.
const webExtract = 2000

//go:embed web_fetch.md
var webFetchPrompt string

type webFetchArgs struct {
	URL string `json:"url"`
}

// newWebFetch is the tool that reads a page of the web (R82).
func newWebFetch() tools.Tool {
	return tools.Define(tools.Spec{
		ID:          "web_fetch",
		Description: prompt(webFetchPrompt),
		Kind:        kinds.Fetch,
		Label:       "Fetch page",
		Describe:    argumentTitle("Fetch", "url"),
		Default:     capability.AllowGrantedHosts,
		Parameters:  object(text("url", "The page's address, http:// or https://.")),
		Requires:    capability.RequirementSet{Net: capability.Net{Hosts: []string{"*"}}},
		Aliases:     []tools.Alias{{Name: "read_web_page"}},
		Renames:     map[string]string{"uri": "url"},
		Accepts:     fetchAccepts(),
		Preprocess: func(args map[string]any, _ tools.Env) error {
			rewriteText(args, "url", strings.TrimSpace)
			return nil
		},
		Resources: webHost,
		Preview:   tools.Previewing("web_fetch", previewFetch),
		Profile:   &tools.Profile{}, // beside anything
		ReadOnly:  true,
		Cacheable: true,
		OwnLimit:  true,
	}, webFetch)
}

// previewFetch refuses a text that is not an address before the user is asked. It has no
// host, so that an answer could only be for all hosts.
func previewFetch(_ context.Context, _ tools.Runtime, a webFetchArgs) ([]kinds.Content, error) {
	if _, err := network.Parse(a.URL); err != nil {
		return nil, badAddress(err)
	}
	return nil, nil
}

func badAddress(err error) error {
	return &tools.Error{
		Kind: tools.BadInput, Message: "web_fetch: " + err.Error(), Hint: "Give the whole address, such as https://example.com/page.", Err: err,
	}
}

// webHost is the host that a call asks, in the form in which hosts are compared. An
// address that has none is refused before anything is judged.
func webHost(args tools.Args, _ tools.Env) []tools.Resource {
	a, err := tools.Decode[webFetchArgs](context.Background(), args)
	if err != nil {
		return nil
	}
	target, err := network.Parse(a.URL)
	if err != nil {
		return []tools.Resource{{Kind: tools.Host, URL: a.URL}}
	}
	return []tools.Resource{{Kind: tools.Host, Value: target.Host, URL: target.String()}}
}

func webFetch(ctx context.Context, rt tools.Runtime, a webFetchArgs) (*tools.Result, error) {
	if _, err := network.Parse(a.URL); err != nil {
		return nil, badAddress(err)
	}
	response, err := rt.Net().Do(ctx, tools.Request{
		URL: a.URL, Header: map[string]string{"Accept": "text/markdown, text/html;q=0.9, text/plain;q=0.8, */*;q=0.5"},
	})
	if err != nil {
		return nil, webFailure(ctx, a.URL, err)
	}
	if response.Redirect != "" {
		return webRedirect(response), nil
	}
	page, err := webpage.Convert(ctx, response.Body, response.ContentType, response.URL)
	if err != nil {
		return nil, err
	}
	if response.Status >= 400 {
		return nil, webRefusal(response, page)
	}
	return webResult(rt, response, page), nil
}

// webFailure gives an error of the network the shape a model reads; what was
// refused or too slow has it already.
func webFailure(ctx context.Context, url string, err error) error {
	if _, known := errors.AsType[*tools.Error](err); known || ctx.Err() != nil {
		return err
	}
	return &tools.Error{Kind: tools.Backend, Message: fmt.Sprintf("web_fetch: %s: %v", url, err), Err: err}
}

// webRefusal is the error of a status that says that the page is not to be had, with
// the start of the server's text.
func webRefusal(response *tools.Response, page webpage.Page) error {
	failure := tools.Errorf(tools.Backend, "web_fetch: %s answered with status %d", response.URL, response.Status)
	switch response.Status {
	case 401, 403, 407:
		failure.Detail = "The page is not open to the public; it cannot be fetched with a login."
	case 404, 410:
		failure.Detail = "There is no such page; check the address."
	case 429:
		failure.Detail = "The server asks for fewer requests; do not repeat this at once."
	}
	if extract := strings.TrimSpace(textcut.First(page.Text, webExtract)); extract != "" {
		failure.Detail = strings.TrimPrefix(failure.Detail+"\n"+fence("web_page", response.URL, extract), "\n")
	}
	return failure
}
