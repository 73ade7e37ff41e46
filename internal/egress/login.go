package egress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// loginHost is the name under which the proxy itself answers, with logins. No host has it (RFC 6761).
const loginHost = "login.acp-agent.invalid"

// maxLogin bounds, in bytes, what git says of a login.
const maxLogin = 64 << 10

// Login is a login for a host, as git describes it to a credential helper (gitcredentials(7)).
type Login struct {
	// Scheme is "https" or "http".
	Scheme string
	To     Destination
	// User is the name that is wanted, or empty for any.
	User string
	// Password is empty in a request.
	Password string
}

// ParseLogin reads a login as git writes it: a line name=value for each attribute. Attributes that are
// not known are left out.
func ParseLogin(from io.Reader) (Login, error) {
	var login Login
	pair := ""
	text, err := io.ReadAll(io.LimitReader(from, maxLogin))
	if err != nil {
		return Login{}, err
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" {
			break
		}
		name, value, _ := strings.Cut(line, "=")
		switch name {
		case "protocol":
			login.Scheme = value
		case "host":
			pair = value
		case "username":
			login.User = value
		case "password":
			login.Password = value
		}
	}
	if strings.ContainsAny(login.User, "\r\x00") {
		return Login{}, fmt.Errorf("%q is not the name of a user", login.User)
	}
	port, known := map[string]string{"https": "443", "http": "80"}[login.Scheme]
	if !known {
		return Login{}, fmt.Errorf("logins are for https and http, not for %q", login.Scheme)
	}
	to, err := url.Parse(login.Scheme + "://" + pair)
	if err != nil || to.Host != pair || to.Hostname() == "" {
		return Login{}, fmt.Errorf("%q is not a host", pair)
	}
	if to.Port() == "" {
		to.Host += ":" + port
	}
	login.To, err = parsePair(to.Host)
	return login, err
}

// Request returns what asks git for the login.
func (l Login) Request() string {
	text := "protocol=" + l.Scheme + "\nhost=" + l.host() + "\n"
	if l.User != "" {
		text += "username=" + l.User + "\n"
	}
	return text + "\n"
}

// host returns the host as git names it, without the port that belongs to the scheme.
func (l Login) host() string {
	pair := l.To.Pair()
	switch l.Scheme {
	case "https":
		return strings.TrimSuffix(pair, ":443")
	default:
		return strings.TrimSuffix(pair, ":80")
	}
}

// answer returns what a credential helper tells git.
func (l Login) answer() string { return "username=" + l.User + "\npassword=" + l.Password + "\n" }

// giveLogin answers a client that asks for a login.
func (p *Proxy) giveLogin(w http.ResponseWriter, r *http.Request) {
	want, err := ParseLogin(r.Body)
	if err == nil && p.o.Login == nil {
		err = &Refusal{Reason: "this command gets no logins"}
	}
	var login Login
	if err == nil {
		login, err = p.o.Login(p.ctx, want)
	}
	if err != nil {
		http.Error(w, "acp-agent: no login is given: "+err.Error(), http.StatusForbidden)
		return
	}
	_, _ = io.WriteString(w, login.answer())
}

// GitLogin is the main of the process that git runs as its credential helper within a sandbox. It asks the
// proxy that HTTPS_PROXY names for the user's login for a host. What git wants to have stored or forgotten
// stays as it is. It returns the exit code.
func GitLogin(args []string, getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) != 1 || args[0] != "get" {
		return 0
	}
	answer, err := askLogin(getenv("HTTPS_PROXY"), stdin)
	if err != nil {
		fmt.Fprintln(stderr, err)
		answer = "quit=1\n" // git would ask on a terminal
	}
	_, _ = io.WriteString(stdout, answer)
	return 0
}

func askLogin(address string, want io.Reader) (string, error) {
	proxy, err := url.Parse(address)
	if err != nil || proxy.Host == "" {
		return "", errors.New("acp-agent: this is for git in the sandbox, whose proxy HTTPS_PROXY names")
	}
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://"+loginHost+"/", want)
	if err != nil {
		return "", err
	}
	response, err := (&http.Transport{Proxy: http.ProxyURL(proxy)}).RoundTrip(request)
	if err != nil {
		return "", fmt.Errorf("acp-agent: the proxy of the sandbox: %w", err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxLogin))
	if err == nil && response.StatusCode != http.StatusOK {
		err = errors.New(strings.TrimSpace(string(text)))
	}
	return string(text), err
}
