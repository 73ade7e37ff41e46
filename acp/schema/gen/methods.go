package main

import (
	"slices"
	"strings"
)

func hasSuffix(s, suffix string) bool { return strings.HasSuffix(s, suffix) }

func isNotification(name string) bool { return hasSuffix(name, "Notification") }

// method is one method of the protocol.
type method struct {
	name, constant, side string
	notification         bool
}

// methods gathers the methods from the definitions of their parameters.
func methods(defs map[string]*node) []method {
	var list []method
	for _, name := range sortedKeys(defs) {
		def := defs[name]
		if def.Method == "" || hasSuffix(name, "Response") {
			continue
		}
		list = append(list, method{def.Method, "Method" + goName(def.Method), def.Side, isNotification(name)})
	}
	slices.SortFunc(list, func(a, b method) int { return strings.Compare(a.name, b.name) })
	return list
}

// methodsFile renders the names of all methods.
func (p *plan) methodsFile() ([]byte, error) {
	s := source{plan: p}
	s.printf("// SDKVersion is the version of the npm package @agentclientprotocol/sdk from whose\n" +
		"// schema the types are generated.\n")
	s.printf("const SDKVersion = %q\n\n", pinned)
	list := methods(p.defs)
	groups := []struct{ side, doc string }{
		{"agent", "Methods that a client calls and an agent serves."},
		{"client", "Methods that an agent calls and a client serves."},
		{"protocol", "Methods that both sides may call."},
	}
	for _, g := range groups {
		s.printf("// %s\nconst (\n", g.doc)
		for _, m := range list {
			if m.side == g.side {
				s.printf("%s = %q // %s\n", m.constant, m.name, m.kind())
			}
		}
		s.printf(")\n\n")
	}
	s.printf("// Methods returns all methods of the protocol.\nfunc Methods() []Method {\nreturn []Method{\n")
	for _, m := range list {
		s.printf("{Name: %s, Server: %s, Notification: %t},\n", m.constant, sides[m.side], m.notification)
	}
	s.printf("}\n}\n")
	return s.bytes()
}

var sides = map[string]string{"agent": "Agent", "client": "Client", "protocol": "Either"}

func (m method) kind() string {
	if m.notification {
		return "notification"
	}
	return "request"
}
