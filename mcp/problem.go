package mcp

import (
	"errors"
	"regexp"
	"sync"
)

// lostCode and lostMessage are how the library says, as if the server had, that a request
// did not get through.
const (
	lostCode    = -32005
	lostMessage = "rejected by transport"
)

// libraryPhrases matches what the library adds to an error: the request, which the user did not
// send, and addresses and ids, which may be secret.
var libraryPhrases = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:calling|sending) "[^"]*": |(?:Get|Post|Delete) "[^"]*": |` + lostMessage + `: |failed to (?:read body|decode response|decode event): | \(session ID: [^)]*\)`)
})

// plainError returns an error of the library without these, for the user to read.
func plainError(err error) error {
	text := err.Error()
	if short := libraryPhrases().ReplaceAllString(text, ""); short != text && short != "" {
		return errors.New(short)
	}
	return err
}
