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

	"acp-agent/capability"
	"acp-agent/internal/strictread"
	"acp-agent/kinds"
	"acp-agent/permissions"
)

// The highest values that a manifest may set. The host's own limits apply as well.
const (
	mostCycles      = 100_000
	mostCount       = 1_000_000_000
	mostTemperature = 2
	mostCost        = 1_000_000
)

// fieldReader parses one field into a manifest.
type fieldReader func(f *frontMatter, m *Manifest, field string, n *strictread.Node)

// fields returns a reader for each front matter field of ours, and for supported fields of
// other agents.
func fields() map[string]fieldReader {
	return map[string]fieldReader{
		"name":        func(f *frontMatter, m *Manifest, field string, n *strictread.Node) { m.Name = f.text(field, n) },
		"description": func(f *frontMatter, m *Manifest, field string, n *strictread.Node) { m.Description = f.text(field, n) },
		"mode":        readMode,
		"model":       readModel,
		"tools":       readTools,
		"always": func(f *frontMatter, m *Manifest, field string, n *strictread.Node) {
			m.Always = f.tools(field, f.names(field, n))
		},
		"permissions": readPermissions,
		"limits":      readLimits,
		"requires":    readRequires,
		"inspectable": func(f *frontMatter, m *Manifest, field string, n *strictread.Node) {
			m.Inspectable = f.boolean(field, n)
		},
		"hidden": func(f *frontMatter, m *Manifest, field string, n *strictread.Node) { m.Hidden = f.boolean(field, n) },
		"caller": func(f *frontMatter, m *Manifest, field string, n *strictread.Node) {
			if m.CalledByAgent = f.text(field, n) == "agent"; !m.CalledByAgent {
				f.fault(field, `expects "agent", or to be left out`)
			}
		},

		// Fields of other agents.
		"disallowedTools": readDisallowed,
		"permissionMode":  readPermissionMode,
		"maxTurns": func(f *frontMatter, m *Manifest, field string, n *strictread.Node) {
			m.Limits.Cycles = f.count(field, n, mostCycles)
		},
		"temperature": readTemperature,
	}
}

// ownFields lists the fields that an error message suggests.
func ownFields() string {
	return "name, description, mode, model, tools, always, permissions, limits, requires, inspectable, caller, hidden"
}

func readMode(f *frontMatter, m *Manifest, field string, n *strictread.Node) {
	m.Mode = Mode(f.text(field, n))
	if !slices.Contains([]Mode{Primary, Subagent, All}, m.Mode) {
		f.fault(field, "must be primary, subagent or all, found %q", m.Mode)
	}
}

// readModel parses the name of a model. An empty name means the model of the parent.
func readModel(f *frontMatter, m *Manifest, field string, n *strictread.Node) {
	switch name := f.text(field, n); {
	case name == "inherit":
	case slices.Contains(foreignModels, name):
		f.note(field, "%s is not a model here; the agent uses the model of its parent, or agents.NAME.model from your settings", name)
	case kinds.Line(name, maxModel) != name:
		f.fault(field, "%q is not a valid model name", name)
	default:
		m.Model = name
	}
}

// maxModel bounds the name of a model, in characters.
const maxModel = 200

// readTools parses a list of names, or fields with true and false.
func readTools(f *frontMatter, m *Manifest, field string, n *strictread.Node) {
	if n.Kind != strictread.Object {
		if empty(n) {
			f.note(field, "has no value; the agent has no tools. Leave the field out for all tools")
		}
		m.Tools = f.tools(field, f.names(field, n))
		return
	}
	f.each(field, n, func(field, written string, value *strictread.Node) {
		if f.boolean(field, value) {
			return
		}
		name, _ := toolName(written)
		f.deny(m, field, name)
	})
}

// deny adds a rule that denies everything a tool does.
func (f *frontMatter) deny(m *Manifest, field, permission string) {
	f.rule(m, field, permissions.Rule{Permission: permission, Action: capability.Deny})
}

func (f *frontMatter) rule(m *Manifest, field string, rule permissions.Rule) {
	if err := permissions.CheckPermission(rule.Permission); err != nil {
		f.fault(field, "%v", err)
		return
	}
	rule.Source = f.file + ":" + strconv.Itoa(f.lines[field])
	f.lines[ruleField(len(m.Rules))] = f.lines[field]
	m.Rules = append(m.Rules, rule)
}

// readDisallowed denies tools, or what a pattern of a tool matches.
func readDisallowed(f *frontMatter, m *Manifest, field string, n *strictread.Node) {
	for i, written := range f.names(field, n) {
		name, pattern := toolName(written)
		// Other agents write the prefix "git *" as "git:*".
		if prefix, ok := strings.CutSuffix(pattern, ":*"); ok {
			pattern = prefix + "*"
		}
		f.rule(m, itemField(field, i), permissions.Rule{Permission: name, Pattern: pattern, Action: capability.Deny})
	}
}

// readPermissionMode applies modes that restrict. A mode of another agent never grants
// anything.
func readPermissionMode(f *frontMatter, m *Manifest, field string, n *strictread.Node) {
	switch mode := f.text(field, n); mode {
	case "", "default":
	case "plan":
		f.deny(m, field, capability.CapFSWrite)
	default:
		f.note(field, "%s has no effect; what the agent may do stands under permissions, in your rules and in the session's mode", mode)
	}
}

func readTemperature(f *frontMatter, m *Manifest, field string, n *strictread.Node) {
	value := f.number(field, n, mostTemperature)
	m.Limits.Temperature = &value
}

func readLimits(f *frontMatter, m *Manifest, field string, n *strictread.Node) {
	l := &m.Limits
	counts := map[string]*int{"tokens": &l.Tokens, "calls": &l.Calls, "max_tokens": &l.MaxTokens, "fan_out": &l.FanOut}
	f.each(field, n, func(field, name string, value *strictread.Node) {
		switch count := counts[name]; {
		case count != nil:
			*count = f.count(field, value, mostCount)
		case name == "cycles":
			l.Cycles = f.count(field, value, mostCycles)
		case name == "temperature":
			readTemperature(f, m, field, value)
		case name == "time":
			l.Time = f.duration(field, value)
		case name == "cost":
			l.Cost = f.number(field, value, mostCost)
		default:
			f.fault(field, "unknown limit; known here: %s, cost, cycles, temperature, time", strings.Join(slices.Sorted(maps.Keys(counts)), ", "))
		}
	})
}

// readPermissions parses a level, or a level and rules.
func readPermissions(f *frontMatter, m *Manifest, field string, n *strictread.Node) {
	if n.Scalar() {
		readLevel(f, m, field, n)
		return
	}
	f.each(field, n, func(field, name string, value *strictread.Node) {
		var action capability.Action
		switch err := action.UnmarshalText([]byte(name)); {
		case name == "level":
			readLevel(f, m, field, value)
		case err == nil:
			readRules(f, m, field, value, action)
		default:
			f.fault(field, "unknown field; known here: level, allow, ask, deny")
		}
	})
}

func readLevel(f *frontMatter, m *Manifest, field string, n *strictread.Node) {
	m.Level = Level(f.text(field, n))
	if m.Level != Restricted && m.Level != Inherit {
		f.fault(field, "must be restricted or inherit, found %q", m.Level)
	}
}

// readRules parses a list of rules in the forms that the settings use.
func readRules(f *frontMatter, m *Manifest, field string, n *strictread.Node, action capability.Action) {
	if empty(n) {
		return
	}
	if n.Kind != strictread.List {
		f.fault(field, `expects a list of rules, such as ["bash(go test *)"]`)
		return
	}
	for i, item := range n.Items {
		at := itemField(field, i)
		var rule permissions.Rule
		if item.Kind == strictread.Object {
			f.each(at, item, func(field, name string, value *strictread.Node) {
				switch name {
				case "permission":
					rule.Permission = f.text(field, value)
				case "pattern":
					rule.Pattern = f.text(field, value)
				default:
					f.fault(field, "unknown field; known here: permission, pattern")
				}
			})
		} else {
			var err error
			if rule, err = permissions.ParseRule(f.text(at, item)); err != nil {
				f.fault(at, "%v", err)
			}
		}
		if ours, ok := foreignTools[rule.Permission]; ok {
			rule.Permission = ours
		}
		rule.Action = action
		f.rule(m, at, rule)
	}
}

// requireFields lists the fields below requires that hold lists or other fields.
var requireFields = map[string][]string{
	"requires": {"fs", "net", "shell", "capabilities"}, "requires.fs": {"read", "write"}, "requires.net": {"hosts"},
}

func readRequires(f *frontMatter, m *Manifest, field string, n *strictread.Node) {
	f.refuseUnknown(field, n)
	decoder := json.NewDecoder(bytes.NewReader(n.JSON()))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&m.Requires); err != nil {
		if typeErr, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && typeErr.Field != "" {
			err = fmt.Errorf("%s is not of type %s", typeErr.Field, typeErr.Type)
		}
		f.fault(field, "%v", err)
	}
}

// refuseUnknown rejects unknown fields of requires, because they may be meant to restrict.
func (f *frontMatter) refuseUnknown(field string, n *strictread.Node) {
	known, ok := requireFields[field]
	if !ok {
		return
	}
	f.each(field, n, func(at, name string, value *strictread.Node) {
		if !slices.Contains(known, name) {
			f.fault(at, "unknown field; known here: %s", strings.Join(known, ", "))
			return
		}
		f.refuseUnknown(at, value)
	})
}

func itemField(field string, i int) string { return field + "[" + strconv.Itoa(i) + "]" }

// ruleField is the key of a rule in Manifest.Lines.
func ruleField(i int) string { return itemField("rules", i) }
