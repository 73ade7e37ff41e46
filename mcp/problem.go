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

// around is what the library writes around what went wrong: which request it was, which
// people did not send, and addresses and ids, which may be secret.
var around = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:calling|sending) "[^"]*": |(?:Get|Post|Delete) "[^"]*": |` + lostMessage + `: |failed to (?:read body|decode response|decode event): | \(session ID: [^)]*\)`)
})

// plainly is an error of the library as people read it.
func plainly(err error) error {
	text := err.Error()
	if short := around().ReplaceAllString(text, ""); short != text && short != "" {
		return errors.New(short)
	}
	return err
}
