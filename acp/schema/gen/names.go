package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// initialisms are words that Go writes in capitals.
var initialisms = []string{"id", "uri", "url", "http", "sse", "fs", "mcp"}

// goName turns a name of the protocol, in camel or snake case, into one of Go.
func goName(name string) string {
	var b strings.Builder
	for _, word := range words(name) {
		if slices.Contains(initialisms, word) {
			b.WriteString(strings.ToUpper(word))
			continue
		}
		b.WriteString(upperFirst(word))
	}
	return b.String()
}

// words splits a name, and makes its words lower case.
func words(name string) []string {
	var list []string
	start := true
	for _, r := range name {
		switch {
		case strings.ContainsRune("_/-$", r):
			start = true
			continue
		case unicode.IsUpper(r):
			start = true
		}
		if start {
			list = append(list, "")
			start = false
		}
		list[len(list)-1] += string(unicode.ToLower(r))
	}
	return list
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// tagType names the type of a struct's discriminator.
func tagType(structName string) string { return lowerFirst(structName) + "Tag" }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func unmarshal(raw json.RawMessage, v any) error { return json.Unmarshal(raw, v) }
