package subagent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"acp-agent/capability"
	"acp-agent/kinds"
	"acp-agent/permissions"
)

// The most that a manifest may set. The host's own limits hold besides.
const (
	mostCycles      = 100_000
	mostCount       = 1_000_000_000
	mostTemperature = 2
	mostCost        = 1_000_000
)

// fieldReader reads one field into a manifest.
type fieldReader func(h *head, m *Manifest, field string, n *yaml.Node)

// fields are those of a manifest, in the front matter of agents of ours and of others.
func fields() map[string]fieldReader {
	return map[string]fieldReader{
		"name":        func(h *head, m *Manifest, field string, n *yaml.Node) { m.Name = h.text(field, n) },
		"description": func(h *head, m *Manifest, field string, n *yaml.Node) { m.Description = h.text(field, n) },
		"mode":        readMode,
		"model":       readModel,
		"tools":       readTools,
		"always": func(h *head, m *Manifest, field string, n *yaml.Node) {
			m.Always = h.tools(field, h.names(field, n))
		},
		"permissions": readPermissions,
		"limits":      readLimits,
		"requires":    readRequires,
		"inspectable": func(h *head, m *Manifest, field string, n *yaml.Node) { m.Inspectable = h.truth(field, n) },
		"hidden":      func(h *head, m *Manifest, field string, n *yaml.Node) { m.Hidden = h.truth(field, n) },
		"caller": func(h *head, m *Manifest, field string, n *yaml.Node) {
			if m.CalledByAgent = h.text(field, n) == "agent"; !m.CalledByAgent {
				h.fault(field, `expects "agent", or to be left out`)
			}
		},

		// Of other agents.
		"disallowedTools": readDisallowed,
		"permissionMode":  readPermissionMode,
		"maxTurns": func(h *head, m *Manifest, field string, n *yaml.Node) {
			m.Limits.Cycles = h.count(field, n, mostCycles)
		},
		"temperature": readTemperature,
	}
}

// ownFields are the fields that a message names.
func ownFields() string {
	return "name, description, mode, model, tools, always, permissions, limits, requires, inspectable, caller, hidden"
}

func readMode(h *head, m *Manifest, field string, n *yaml.Node) {
	m.Mode = Mode(h.text(field, n))
	if !slices.Contains([]Mode{Primary, Subagent, All}, m.Mode) {
		h.fault(field, "must be primary, subagent or all, found %q", m.Mode)
	}
}

// readModel takes a model's name. That of the parent is what an empty one means.
func readModel(h *head, m *Manifest, field string, n *yaml.Node) {
	switch name := h.text(field, n); {
	case name == "inherit":
	case slices.Contains(foreignModels, name):
		h.note(field, "%s is no model here; the agent runs on that of its parent, or on what agents.NAME.model in your settings says", name)
	case kinds.Line(name, maxModel) != name:
		h.fault(field, "%q is no name of a model", name)
	default:
		m.Model = name
	}
}

// maxModel bounds the name of a model, in characters.
const maxModel = 200

// readTools takes a list of names, or fields with true and false.
func readTools(h *head, m *Manifest, field string, n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		if empty(n) {
			h.note(field, "has no value; the agent has no tools. Leave the field out for all tools")
		}
		m.Tools = h.tools(field, h.names(field, n))
		return
	}
	h.each(field, n, func(field, written string, value *yaml.Node) {
		if h.truth(field, value) {
			return
		}
		name, _ := toolName(written)
		h.deny(m, field, name)
	})
}

// deny adds a deny of all that a tool does.
func (h *head) deny(m *Manifest, field, permission string) {
	h.rule(m, field, permissions.Rule{Permission: permission, Action: capability.Deny})
}

func (h *head) rule(m *Manifest, field string, rule permissions.Rule) {
	if err := permissions.CheckPermission(rule.Permission); err != nil {
		h.fault(field, "%v", err)
		return
	}
	rule.Source = h.file + ":" + strconv.Itoa(h.lines[field])
	h.lines[ruleField(len(m.Rules))] = h.lines[field]
	m.Rules = append(m.Rules, rule)
}

// readDisallowed takes tools away; a pattern takes away what it matches.
func readDisallowed(h *head, m *Manifest, field string, n *yaml.Node) {
	for i, written := range h.names(field, n) {
		name, pattern := toolName(written)
		// "git:*" of other agents is a prefix, as "git *" is here.
		if prefix, ok := strings.CutSuffix(pattern, ":*"); ok {
			pattern = prefix + "*"
		}
		h.rule(m, itemField(field, i), permissions.Rule{Permission: name, Pattern: pattern, Action: capability.Deny})
	}
}

// readPermissionMode heeds what takes away. Nothing of another agent's grants here.
func readPermissionMode(h *head, m *Manifest, field string, n *yaml.Node) {
	switch mode := h.text(field, n); mode {
	case "", "default":
	case "plan":
		h.deny(m, field, capability.CapFSWrite)
	default:
		h.note(field, "%s has no effect; what the agent may do stands under permissions, in your rules and in the session's mode", mode)
	}
}

func readTemperature(h *head, m *Manifest, field string, n *yaml.Node) {
	value := h.number(field, n, mostTemperature)
	m.Limits.Temperature = &value
}

func readLimits(h *head, m *Manifest, field string, n *yaml.Node) {
	l := &m.Limits
	counts := map[string]*int{"tokens": &l.Tokens, "calls": &l.Calls, "max_tokens": &l.MaxTokens, "fan_out": &l.FanOut}
	h.each(field, n, func(field, name string, value *yaml.Node) {
		switch count := counts[name]; {
		case count != nil:
			*count = h.count(field, value, mostCount)
		case name == "cycles":
			l.Cycles = h.count(field, value, mostCycles)
		case name == "temperature":
			readTemperature(h, m, field, value)
		case name == "time":
			l.Time = h.duration(field, value)
		case name == "cost":
			l.Cost = h.number(field, value, mostCost)
		default:
			h.fault(field, "unknown limit; known here: %s, cost, cycles, temperature, time", strings.Join(slices.Sorted(maps.Keys(counts)), ", "))
		}
	})
}

// readPermissions takes a level, or a level and rules.
func readPermissions(h *head, m *Manifest, field string, n *yaml.Node) {
	if n.Kind == yaml.ScalarNode {
		readLevel(h, m, field, n)
		return
	}
	h.each(field, n, func(field, name string, value *yaml.Node) {
		var action capability.Action
		switch err := action.UnmarshalText([]byte(name)); {
		case name == "level":
			readLevel(h, m, field, value)
		case err == nil:
			readRules(h, m, field, value, action)
		default:
			h.fault(field, "unknown field; known here: level, allow, ask, deny")
		}
	})
}

func readLevel(h *head, m *Manifest, field string, n *yaml.Node) {
	m.Level = Level(h.text(field, n))
	if m.Level != Restricted && m.Level != Inherit {
		h.fault(field, "must be restricted or inherit, found %q", m.Level)
	}
}

// readRules takes a list of rules in the forms of the settings.
func readRules(h *head, m *Manifest, field string, n *yaml.Node, action capability.Action) {
	if empty(n) {
		return
	}
	if n.Kind != yaml.SequenceNode {
		h.fault(field, `expects a list of rules, such as ["bash(go test *)"]`)
		return
	}
	for i, item := range n.Content {
		at := itemField(field, i)
		var rule permissions.Rule
		if item.Kind == yaml.MappingNode {
			h.each(at, item, func(field, name string, value *yaml.Node) {
				switch name {
				case "permission":
					rule.Permission = h.text(field, value)
				case "pattern":
					rule.Pattern = h.text(field, value)
				default:
					h.fault(field, "unknown field; known here: permission, pattern")
				}
			})
		} else {
			var err error
			if rule, err = permissions.ParseRule(h.text(at, item)); err != nil {
				h.fault(at, "%v", err)
			}
		}
		if ours, ok := foreignTools[rule.Permission]; ok {
			rule.Permission = ours
		}
		rule.Action = action
		h.rule(m, at, rule)
	}
}

// requireFields are the fields beneath requires that are lists or fields themselves.
var requireFields = map[string][]string{
	"requires": {"fs", "net", "shell", "capabilities"}, "requires.fs": {"read", "write"}, "requires.net": {"hosts"},
}

func readRequires(h *head, m *Manifest, field string, n *yaml.Node) {
	h.knownOnly(field, n)
	var fields any
	if err := n.Decode(&fields); err != nil {
		h.fault(field, "%v", err)
		return
	}
	asJSON, err := json.Marshal(fields)
	if err != nil {
		h.fault(field, "%v", err)
		return
	}
	decoder := json.NewDecoder(bytes.NewReader(asJSON))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&m.Requires); err != nil {
		if typeErr, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && typeErr.Field != "" {
			err = fmt.Errorf("%s is no %s", typeErr.Field, typeErr.Type)
		}
		h.fault(field, "%v", err)
	}
}

// knownOnly refuses fields of requires that mean nothing: they may be meant to bound.
func (h *head) knownOnly(field string, n *yaml.Node) {
	known, ok := requireFields[field]
	if !ok {
		return
	}
	h.each(field, n, func(at, name string, value *yaml.Node) {
		if !slices.Contains(known, name) {
			h.fault(at, "unknown field; known here: %s", strings.Join(known, ", "))
			return
		}
		h.knownOnly(at, value)
	})
}

func itemField(field string, i int) string { return field + "[" + strconv.Itoa(i) + "]" }

// ruleField names a rule in the lines of a manifest.
func ruleField(i int) string { return itemField("rules", i) }
