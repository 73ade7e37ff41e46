package schematest

import (
	"encoding/json"
	"fmt"
	"strings"
)

// method names the definitions of a method's messages.
type method struct {
	side         string // who serves it: agent, client, or protocol for both
	params       string
	result       string
	notification bool
}

// methodsOf are the methods that definitions are marked with.
func methodsOf(defs map[string]json.RawMessage) (map[string]method, error) {
	methods := map[string]method{}
	for name, raw := range defs {
		var def struct {
			Method string `json:"x-method"`
			Side   string `json:"x-side"`
		}
		if err := json.Unmarshal(raw, &def); err != nil {
			return nil, fmt.Errorf("decode %s: %w", name, err)
		}
		if def.Method == "" {
			continue
		}
		m := methods[def.Method]
		m.side = def.Side
		if strings.HasSuffix(name, "Response") {
			m.result = name
		} else {
			m.params, m.notification = name, strings.HasSuffix(name, "Notification")
		}
		methods[def.Method] = m
	}
	return methods, nil
}

// find returns a method that is called in direction d, and the definitions that judge it. The client
// may call a method that is a draft; the agent may not.
func (v *Validator) find(d Direction, name string) (m method, judge *definitions, ok bool) {
	if m, ok = v.methods[name]; ok {
		return m, v.judge(), true
	}
	if m, ok = v.drafted[name]; ok && d == ToAgent {
		return m, v.draft, true
	}
	return method{}, nil, false
}

// Method says who serves a method ("agent", "client", or "protocol" for both), and
// whether it is a notification.
func (v *Validator) Method(name string) (side string, notification, ok bool) {
	m, ok := v.methods[name]
	return m.side, m.notification, ok
}
