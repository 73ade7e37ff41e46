package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// listed is a model as the package lists it.
type listed struct {
	ID, Name, Type           string
	Reasoning                bool
	Input                    []string
	ContextWindow, MaxTokens int
	ThinkingLevelMap         map[string]*string
	Cost                     struct {
		amounts
		Tiers []struct {
			amounts
			InputTokensAbove int
		}
	}
	Compat struct {
		ThinkingFormat          string
		SupportsReasoningEffort *bool
	}
}

// amounts are US dollars for a million tokens.
type amounts struct{ Input, Output, CacheRead, CacheWrite float64 }

// chatting are the models that chat, sorted. A router's batches are not models of their own, and
// "~" marks its aliases, which change.
func chatting(groups map[string]map[string]listed) []listed {
	byID := map[string]listed{}
	for _, group := range groups {
		for _, m := range group {
			if m.Type == "chat" && !strings.HasSuffix(m.ID, ":batch") && !strings.HasPrefix(m.ID, "~") {
				byID[m.ID] = m
			}
		}
	}
	var list []listed
	for _, m := range byID {
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b listed) int { return strings.Compare(a.ID, b.ID) })
	return list
}

func (m listed) line() string {
	flags := ""
	if slices.Contains(m.Input, "image") {
		flags += "i"
	}
	if m.Reasoning {
		flags += "r"
	}
	name := m.Name
	if name == m.ID {
		name = ""
	}
	fields := []string{m.ID, name, count(m.ContextWindow), count(min(m.MaxTokens, m.ContextWindow)), flags, strings.Join(m.levels(), " "), m.prices()}
	for i, field := range fields {
		fields[i] = strings.Map(func(r rune) rune {
			if r < ' ' {
				return -1
			}
			return r
		}, field)
	}
	return strings.TrimRight(strings.Join(fields, "\t"), "\t")
}

func count(n int) string {
	if n <= 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// levels are the thought levels. The package names for each level what is sent, or null
// where there is none; low, medium and high count also where it names nothing. Formats
// that switch thinking have off, which is sent otherwise than as a level, and on where no
// level can be chosen.
func (m listed) levels() []string {
	if !m.Reasoning {
		return nil
	}
	var levels []string
	add := func(name string, unless bool) {
		value, named := m.ThinkingLevelMap[name]
		switch {
		case !named && unless:
			levels = append(levels, name)
		case value == nil:
		case *value == name:
			levels = append(levels, name)
		default:
			levels = append(levels, name+"="+*value)
		}
	}
	switches := slices.Contains([]string{"deepseek", "zai", "qwen", "together"}, m.Compat.ThinkingFormat)
	effort := m.Compat.SupportsReasoningEffort
	add("off", switches)
	if switches && (effort != nil && !*effort) {
		if len(levels) == 0 {
			return nil // it always thinks, and there is nothing to choose
		}
		return append(levels, "on")
	}
	add("minimal", false)
	for _, name := range []string{"low", "medium", "high"} {
		add(name, true)
	}
	add("xhigh", false)
	add("max", false)
	return levels
}

func (m listed) prices() string {
	c := m.Cost
	if c.Input == 0 && c.Output == 0 {
		return ""
	}
	text := c.text()
	for _, tier := range c.Tiers {
		text += fmt.Sprintf(" %d:%s", tier.InputTokensAbove, tier.text())
	}
	return text
}

func (a amounts) text() string {
	var each []string
	for _, n := range []float64{a.Input, a.Output, a.CacheRead, a.CacheWrite} {
		text := strconv.FormatFloat(n, 'f', -1, 64)
		if n == 0 {
			text = ""
		}
		each = append(each, text)
	}
	return strings.TrimRight(strings.Join(each, "/"), "/")
}
