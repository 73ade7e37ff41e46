package provider

import (
	"cmp"
	"errors"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"acp-agent/tools"
)

// The types of providers.
const (
	Stdio = "stdio" // a program that is started
	HTTP  = "http"  // an address
)

// Config is one entry of the user's external.toolProviders.
type Config struct {
	// Name is the entry's.
	Name string
	// Type is Stdio or HTTP.
	Type string
	// Command is the program of a Stdio provider and Args what follows it. Env are
	// NAME=value entries beside the short environment of programs. Network opens the
	// network to it; else it reaches Hosts, in the form of permissions.HostPattern.
	Command string
	Args    []string
	Env     []string
	Network bool
	Hosts   []string
	// URL is the address of an HTTP provider; Headers are sent to it with each request.
	URL     string
	Headers map[string]string
}

// unknownType is the error of an entry of another type, in the words of R94.
type unknownType string

// Error implements error.
func (t unknownType) Error() string { return "Unknown tool provider type: " + string(t) }

// check says why an entry cannot be used.
func (c Config) check() error {
	switch c.Type {
	case Stdio:
		if c.Command == "" {
			return errors.New("it has no command")
		}
	case HTTP:
		if u, err := url.Parse(c.URL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return errors.New("its url is no http or https address")
		}
	default:
		return unknownType(c.Type)
	}
	return nil
}

// provenance is what an answer about one of the provider's tools is bound to (M1): the entry of
// the configuration, without the values of its variables and headers.
func (c Config) provenance() tools.Origin {
	var variables []string
	for _, variable := range c.Env {
		name, _, _ := strings.Cut(variable, "=")
		variables = append(variables, name)
	}
	slices.Sort(variables)
	digest := tools.DigestOf(
		c.Name, c.Type, c.Command, tools.DigestOf(c.Args...), tools.DigestOf(variables...), strconv.FormatBool(c.Network),
		c.URL, tools.DigestOf(slices.Sorted(maps.Keys(c.Headers))...),
	)
	place := c.Type
	if u, err := url.Parse(c.URL); err == nil && c.Type == HTTP {
		place += " " + cmp.Or(u.Host, "?")
	} else if c.Command != "" {
		place += " " + filepath.Base(c.Command)
	}
	return tools.Origin{Digest: digest, Place: place, Remote: c.Type == HTTP}
}
