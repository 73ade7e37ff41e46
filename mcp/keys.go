package mcp

import (
	"encoding/base64"
	"maps"
	"net/url"
	"slices"
	"strings"

	"acp-agent/internal/redact"
)

// Keys are the values that the server is given and that no one else is to see (D3): the
// headers, variables, arguments and parts of the address whose names say that they hold a
// key, long headers whatever their name, and what stands before a host. An ordinary word is
// not a key: a key holds a digit and has 8 characters or more.
func (s *Server) Keys() []string {
	var k keys
	for _, name := range slices.Sorted(maps.Keys(s.Header)) {
		if value := s.Header[name]; redact.NamesKey(name) || redact.Distinct(value) {
			k.header(value)
		}
	}
	for _, variable := range s.Env {
		name, value, _ := strings.Cut(variable, "=")
		k.setting(name, value)
	}
	named := ""
	for _, arg := range s.Args {
		if named != "" {
			k.setting(named, arg)
		}
		named = k.argument(arg)
	}
	k.address(s.URL)
	return k.list
}

// keys gathers values.
type keys struct{ list []string }

func (k *keys) add(value string) {
	if len(value) >= redact.Least && strings.ContainsAny(value, "0123456789") && !slices.Contains(k.list, value) {
		k.list = append(k.list, value)
	}
}

// header adds the value of a header, and the credentials behind its scheme.
func (k *keys) header(value string) {
	k.add(value)
	scheme, credentials, found := strings.Cut(value, " ")
	if !found {
		return
	}
	k.add(credentials)
	if raw, err := base64.StdEncoding.DecodeString(credentials); err == nil && strings.EqualFold(scheme, "basic") {
		_, password, _ := strings.Cut(string(raw), ":")
		k.add(password)
	}
}

// places end the names of settings that say where something is.
var places = []string{"file", "path", "dir", "url", "uri", "host", "port"}

// setting adds the value of a variable or an option, by its name.
func (k *keys) setting(name, value string) {
	k.address(value)
	isPlace := slices.ContainsFunc(places, func(end string) bool { return strings.HasSuffix(strings.ToLower(name), end) })
	if redact.NamesKey(name) && !isPlace {
		k.header(value)
	}
}

// argument adds what stands in one argument, and returns the name of an option whose value
// is the next one.
func (k *keys) argument(arg string) (named string) {
	k.address(arg)
	if name, value, found := strings.Cut(arg, "="); found && !strings.Contains(name, " ") {
		k.setting(name, value)
		return ""
	}
	if name, value, found := strings.Cut(arg, ":"); found { // a header, as an argument
		k.setting(name, strings.TrimSpace(value))
	}
	if strings.HasPrefix(arg, "-") {
		return arg
	}
	return ""
}

// address adds what stands before the host of an address, and the parts of its query whose
// names say so.
func (k *keys) address(text string) {
	if !strings.Contains(text, "://") {
		return
	}
	u, err := url.Parse(text)
	if err != nil {
		return
	}
	if password, set := u.User.Password(); set {
		k.add(password)
	} else {
		k.add(u.User.Username())
	}
	query := u.Query()
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if redact.NamesKey(name) {
			for _, value := range query[name] {
				k.add(value)
			}
		}
	}
}
