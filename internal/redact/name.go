package redact

import (
	"slices"
	"strings"
)

// NamesKey reports a name that says of its value that it is a key: of a header, a variable,
// an argument or a part of an address.
func NamesKey(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"auth", "key", "token", "secret", "cookie", "pass", "credential"}, func(part string) bool {
		return strings.Contains(name, part)
	})
}
