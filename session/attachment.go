package session

import (
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"

	"acp-agent/kinds"
	"acp-agent/transcript"
)

// withheld stands for the text of a file that holds secrets.
const withheld = "[not passed on: this file holds secrets]"

// dropSecretAttachments takes the text of files that hold secrets out of a prompt, because no tool
// would read them either (R30). It notifies the user.
func (p *promptReader) dropSecretAttachments(prompt *transcript.Message) {
	for i, part := range prompt.Parts {
		resource, ok := part.(*transcript.ResourcePart)
		if !ok || !p.namesSecret(resource.URI) {
			continue
		}
		prompt.Parts[i] = &transcript.ResourcePart{URI: resource.URI, Text: withheld, MediaType: "text/plain"}
		p.conversation.emit(transcript.Notice{
			Severity: transcript.Warning, Title: "Not passed on",
			Text: fmt.Sprintf("%s holds secrets, so its text was not passed on to the model.", kinds.Line(resource.URI, titleRunes)),
		})
	}
}

// namesSecret reports whether an address leads to a file that holds secrets, by its own name or by
// the name of the file to which its links lead.
func (p *promptReader) namesSecret(address string) bool {
	path := address
	if u, err := url.Parse(address); err == nil && len(u.Scheme) > 1 { // one letter is a Windows drive
		path = u.Path
		if runtime.GOOS == "windows" {
			path = strings.TrimPrefix(path, "/")
		}
	}
	if path == "" {
		return false
	}
	path = filepath.FromSlash(path)
	return p.secrets.holds(path) || p.secrets.holds(p.work.Resolve(path))
}
