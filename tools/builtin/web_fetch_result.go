package builtin

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"acp-agent/internal/textcut"
	"acp-agent/internal/webpage"
	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// pageData is the data of a page. Content of one that was cut is its head, too
// (R105); of a picture and of what is not text it is a description.
type pageData struct {
	URL     string  `json:"url"`
	Title   string  `json:"title,omitempty"`
	Content string  `json:"content"`
	Head    *string `json:"head,omitempty"`
	// Redirect is where the address leads when that is another host.
	Redirect string `json:"redirect,omitempty"`
}

// addressRunes bounds an address on a card.
const addressRunes = 500

// webRedirect leaves a redirect to another host to the model, for that is a
// decision of its own (N4).
func webRedirect(response *tools.Response) *tools.Result {
	said := fmt.Sprintf("%s redirects to %s; call web_fetch with it if you want it.", response.URL, response.Redirect)
	return &tools.Result{
		Data: pageData{URL: response.URL, Content: said, Redirect: response.Redirect}, Text: said, Depends: []string{},
		Content: sentenceCard("The address redirects to " + kinds.Code(response.Redirect, addressRunes) + "."),
	}
}

// webResult is a page as it is returned.
func webResult(rt tools.Runtime, response *tools.Response, page webpage.Page) *tools.Result {
	data := pageData{URL: response.URL, Title: page.Title}
	result := &tools.Result{Depends: []string{}}
	if page.MediaType != "" && response.Cut {
		page.Descriptor, page.MediaType = page.MediaType+", which is too large to show", ""
	}
	notes := webNotes(response)
	switch {
	case page.MediaType != "":
		data.Content = fmt.Sprintf("[%s image, %d bytes]", page.MediaType, len(page.Image))
		encoded := base64.StdEncoding.EncodeToString(page.Image)
		result.Images = []transcript.ImagePart{{MediaType: page.MediaType, Data: encoded}}
		result.Content = []kinds.Content{kinds.Image{MediaType: page.MediaType, Data: encoded}}
	case page.Descriptor != "":
		data.Content = "[" + page.Descriptor + "]"
	default:
		data.Content = page.Text
		if limit := rt.Session().Limits.FetchBytes; len(page.Text) > limit {
			data.Content = textcut.First(page.Text, limit)
			data.Head = &data.Content
			path, note := keepWhole(rt, "page", func(w io.Writer) error {
				_, err := io.WriteString(w, page.Text)
				return err
			})
			result.Truncated, result.OutputPath = true, path
			notes = append(notes, fmt.Sprintf("[the first %d of %d bytes; %s]", len(data.Content), len(page.Text), note))
		} else if page.Text == "" {
			notes = append(notes, "[the page holds no text]")
		}
	}
	shown := data.Content
	if page.Title != "" {
		shown = "Title: " + page.Title + "\n\n" + shown
	}
	result.Data = data
	if result.Content == nil {
		result.Content = notedCard(shown, notes...)
	}
	result.Text = strings.Join(append([]string{fence("web_page", response.URL, shown)}, notes...), "\n")
	return result
}

// webNotes are remarks of ours on the answer.
func webNotes(response *tools.Response) []string {
	var notes []string
	if response.Status < 200 || response.Status > 299 {
		notes = append(notes, fmt.Sprintf("[the server answered with status %d]", response.Status))
	}
	if response.Cut {
		notes = append(notes, fmt.Sprintf("[the answer is longer than %d bytes; what follows them was not fetched]", len(response.Body)))
	}
	return notes
}

// fence encloses what comes from outside in a label that no one outside can
// know, so that the text cannot end it and speak in another's name (I1). It
// helps a model to tell them apart; it is not a boundary.
func fence(label, source, text string) string {
	var random [8]byte
	_, _ = rand.Read(random[:]) // it never fails
	id := hex.EncodeToString(random[:])
	return fmt.Sprintf("<%s url=%q id=%q>\n%s\n</%s id=%q>", label, source, id, text, label, id)
}
