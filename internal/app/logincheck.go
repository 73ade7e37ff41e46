package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"acp-agent/kinds"
)

const (
	// checkTimeout bounds the request with which a login is tested.
	checkTimeout = 15 * time.Second
	// maxCheckAnswer bounds what is read of its answer, in bytes.
	maxCheckAnswer = 8 << 20
	// maxServerWords bounds what is shown of a server's own message, in bytes.
	maxServerWords = 200
)

// errKeyRefused is what a server says of a wrong or missing key.
var errKeyRefused = errors.New("the key was refused")

// checked is what the request of a login found out.
type checked struct {
	// models are the names of the server's models; empty when the request does not tell.
	models []string
	// note is what the user should know although the login is good.
	note string
}

// checkLogin makes one request that costs nothing, and tells a wrong key from a wrong
// address. Its errors never hold the key.
func checkLogin(ctx context.Context, baseURL, path, key string) (checked, error) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	address := baseURL + path
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return checked{}, fmt.Errorf("%s is not an address: %w", baseURL, err)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "acp-agent/"+version)
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer client.CloseIdleConnections()
	resp, err := client.Do(req)
	if err != nil {
		return checked{}, unreachable(baseURL, err, key)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxCheckAnswer))
	if err != nil {
		return checked{}, unreachable(baseURL, err, key)
	}
	return judgeAnswer(baseURL, address, resp, body, key)
}

// unreachable says that no server answered, and why.
func unreachable(baseURL string, err error, key string) error {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err // without the address, which the message has already
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("no answer within %v", checkTimeout)
	}
	// It may quote what is not HTTP.
	if text := err.Error(); key != "" && strings.Contains(text, key) {
		err = errors.New(quoted(text, key))
	}
	return fmt.Errorf("no server can be reached at %s: %w; check the address and whether the server runs", baseURL, err)
}

// judgeAnswer says what an answer tells of the key and the address.
func judgeAnswer(baseURL, address string, resp *http.Response, body []byte, key string) (checked, error) {
	words := serverWords(resp, body, key)
	switch code := resp.StatusCode; {
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		if key == "" {
			return checked{}, fmt.Errorf("%w: %s needs a key (%s)", errKeyRefused, baseURL, words)
		}
		return checked{}, fmt.Errorf("%w by %s (%s)", errKeyRefused, baseURL, words)
	case code == http.StatusTooManyRequests:
		return checked{note: fmt.Sprintf("The server is limiting requests (%s); it did not refuse the key.", words)}, nil
	case code >= 300 && code < 400:
		return checked{}, fmt.Errorf("%s redirects to %q; give that address instead", baseURL, quoted(resp.Header.Get("Location"), key))
	case code >= 500:
		return checked{}, fmt.Errorf("the server at %s fails (%s); try again later", baseURL, words)
	case code != http.StatusOK || !json.Valid(body):
		return checked{}, fmt.Errorf("there is no model API at %s (GET %s: %s); such addresses usually end in /v1", baseURL, address, words)
	}
	return checked{models: modelNames(body)}, nil
}

// serverWords is the status of an answer and the message in it.
func serverWords(resp *http.Response, body []byte, key string) string {
	var answer struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
	}
	message := ""
	if json.Unmarshal(body, &answer) == nil {
		var inner struct {
			Message string `json:"message"`
		}
		switch {
		case json.Unmarshal(answer.Error, &inner) == nil && inner.Message != "":
			message = inner.Message
		case json.Unmarshal(answer.Error, &message) == nil:
		default:
			message = answer.Message
		}
	}
	if message != "" {
		message = ": " + message
	}
	return quoted("HTTP "+resp.Status+message, key)
}

// quoted is what a server said, the reason of its status included: on one line, of a length
// that can be read, and without the key.
func quoted(text, key string) string {
	if key != "" {
		text = strings.ReplaceAll(text, key, "[redacted]")
	}
	text = kinds.Visible(strings.Join(strings.Fields(text), " "))
	if len(text) > maxServerWords {
		text = strings.ToValidUTF8(text[:maxServerWords], "") + "..."
	}
	return text
}

// modelNames reads the list of an OpenAI-compatible server.
func modelNames(body []byte) []string {
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if json.Unmarshal(body, &list) != nil {
		return nil
	}
	var names []string
	for _, entry := range list.Data {
		if entry.ID != "" {
			names = append(names, entry.ID)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// exposesKey reports whether a key would cross a network without encryption.
func exposesKey(baseURL string) bool {
	u, err := url.Parse(baseURL)
	if err != nil || u.Scheme != "http" || u.Hostname() == "localhost" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return ip == nil || !ip.IsLoopback()
}

// checkKey refuses what cannot be a key, such as two lines that were pasted.
func checkKey(key string) error {
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New("a key has no blanks and only ASCII characters; was something else pasted?")
	}
	return nil
}
