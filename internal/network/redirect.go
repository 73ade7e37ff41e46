package network

import (
	"net/http"
	"net/url"
)

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// redirected judges where an answer leads (N4). It returns the next hop within
// the host, or none after it has noted another host in the answer.
func (c *Client) redirected(from hop, answer *Response, location string) (*hop, error) {
	to, err := resolve(from.to, location)
	if err != nil {
		return nil, err
	}
	if err := c.judge(to); err != nil {
		return nil, err
	}
	if from.to.Scheme == "https" && to.Scheme == "http" {
		return nil, to.blocked("a redirect from https to http is not followed", false)
	}
	next := from
	next.to = to
	if from.method == http.MethodPost && answer.Status <= http.StatusSeeOther {
		next.method, next.body = http.MethodGet, nil
	}
	sameOrigin := from.to.origin() == to.origin()
	if !sameOrigin {
		next.header = nil
	}
	if from.to.Host != to.Host || !sameOrigin && next.body != nil {
		answer.Redirect = to.String()
		return nil, nil
	}
	return &next, nil
}

// resolve reads a Location header, which may be relative.
func resolve(from Target, location string) (Target, error) {
	base, err := url.Parse(from.String())
	if err != nil {
		return Target{}, err
	}
	if len(location) > maxURL {
		return Parse(location)
	}
	to, err := base.Parse(location)
	if err != nil {
		return Target{}, &BlockedError{URL: redact(location), Reason: "it is not a valid address to be redirected to"}
	}
	return Parse(to.String())
}
