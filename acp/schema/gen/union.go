package main

import "slices"

// union renders a sealed interface, those of its variants that have no definition of
// their own, and its decoder.
func (s *source) union(u *union) error {
	marker := lowerFirst(u.name)
	s.comment(u.name, s.plan.defs[u.name].unstable)
	s.printf("//\n// It is one of:\n")
	for _, v := range u.variants {
		s.printf("//   - [%s]\n", v.goName)
	}
	s.printf("//   - [Unknown%s]\n", u.name)
	s.printf("type %s interface{ %s() }\n\n", u.name, marker)
	for _, v := range u.variants {
		if v.goName == v.ref {
			continue
		}
		if v.embedded {
			s.embedding(v)
			continue
		}
		fields, err := s.variantFields(u, v)
		if err != nil {
			return err
		}
		s.structure(v.goName, false, fields)
	}
	s.unknown(u.name, marker)
	s.unionDecoder(u)
	return nil
}

// embedding renders a variant around a struct that is used elsewhere too.
func (s *source) embedding(v variant) {
	tag := s.plan.tags[v.goName]
	s.comment(v.goName, false)
	s.printf("type %s struct {\n%s %s `json:%q` // always %q\n%s\n}\n\n",
		v.goName, goName(tag.field), tagType(v.goName), tag.field, tag.value, v.ref)
	s.printf("// UnmarshalJSON implements json.Unmarshaler.\n")
	s.printf("func (v *%s) UnmarshalJSON(raw []byte) error { return v.%s.UnmarshalJSON(raw) }\n\n", v.goName, v.ref)
	s.member(v.goName)
}

// variantFields gathers the fields that a variant shares with the others and its own.
func (s *source) variantFields(u *union, v variant) ([]field, error) {
	var list []field
	seen := map[string]bool{u.discriminator: true}
	for _, from := range []*node{u.base, v.own, s.plan.defs[v.ref]} {
		if from == nil {
			continue
		}
		fields, err := s.fields(v.goName, from, from.Required)
		if err != nil {
			return nil, err
		}
		for _, f := range fields {
			if !seen[f.jsonName] {
				seen[f.jsonName] = true
				list = append(list, f)
			}
		}
	}
	return list, nil
}

func (s *source) unknown(name, marker string) {
	s.printf("// Unknown%s is a %s of a kind that this version does not know.\n", name, name)
	s.printf("type Unknown%s struct{ Raw json.RawMessage }\n\n", name)
	s.printf("// MarshalJSON implements json.Marshaler.\n")
	s.printf("func (u Unknown%s) MarshalJSON() ([]byte, error) { return rawOrNull(u.Raw) }\n\n", name)
	s.printf("func (Unknown%s) %s() {}\n\n", name, marker)
}

func (s *source) unionDecoder(u *union) {
	s.printf("func decode%s(raw []byte) (%s, error) {\n", u.name, u.name)
	if u.discriminator == "" {
		s.printf("switch {\n")
		for _, v := range u.variants {
			s.printf("case has(raw, %q):\nreturn variant[%s, %s](raw)\n", v.distinct, u.name, v.goName)
		}
		s.printf("}\nif _, ok := members(raw); !ok {\nreturn nil, problem(\"must be an object\")\n}\n")
	} else {
		s.printf("tag, err := tagOf(raw, %q)\nif err != nil {\nreturn nil, err\n}\nswitch tag {\n", u.discriminator)
		hasDefault := false
		for _, v := range u.variants {
			match := `"` + v.tag + `"`
			if v.tag == "" {
				hasDefault = true
				if also := synonyms[u.name]; also != "" {
					match += `, "` + also + `"`
				}
			}
			s.printf("case %s:\nreturn variant[%s, %s](raw)\n", match, u.name, v.goName)
		}
		if !hasDefault {
			s.printf("case \"\":\nreturn nil, at(%q, problem(\"is missing\"))\n", u.discriminator)
		}
		s.printf("}\n")
	}
	s.printf("kept, err := anything(raw)\nreturn Unknown%s{Raw: kept}, err\n}\n\n", u.name)
}

// flat renders a union that is a message of its own: one struct with the fields of all
// variants, since a message has to be decoded into something.
func (s *source) flat(name string, n *node) error {
	f := flattening{owner: name, seen: map[string]bool{}}
	f.take(s.plan, n, n.Required, true)
	var fields []field
	for _, prop := range f.props {
		made, err := s.flatField(name, n, prop)
		if err != nil {
			return err
		}
		fields = append(fields, made)
	}
	s.structure(name, n.unstable, fields)
	return nil
}

func (s *source) flatField(name string, n *node, prop flatProperty) (field, error) {
	typ := discriminators[name+"."+prop.name]
	if prop.Const == nil || typ == "" {
		return s.plan.field(name, prop.property, prop.required)
	}
	s.comment(typ, false)
	s.values(typ, constants(n, prop.name))
	return field{
		jsonName: prop.name, goName: goName(prop.name), typ: typ, reader: "required", decoder: "text[" + typ + "]",
	}, nil
}

// constants gathers the fixed values that the alternatives of n give to a property.
func constants(n *node, prop string) []string {
	var values []string
	for _, alt := range n.alternatives() {
		if name, value := constant(alt); name == prop {
			values = append(values, value)
		}
	}
	return values
}

type flatProperty struct {
	property
	required bool
}

// flattening gathers the properties of a definition and of all its alternatives.
type flattening struct {
	owner string
	props []flatProperty
	seen  map[string]bool
}

func (f *flattening) take(p *plan, n *node, required []string, always bool) {
	for _, prop := range n.Properties {
		if !f.seen[prop.name] {
			f.seen[prop.name] = true
			f.props = append(f.props, flatProperty{prop, always && slices.Contains(required, prop.name)})
		}
	}
	shared := requiredByAll(n)
	if n.ref() != "" {
		f.take(p, p.defs[n.ref()], nil, false)
	}
	for _, alt := range n.alternatives() {
		if alt.Not == nil {
			f.take(p, alt, shared, always)
		}
	}
}

// requiredByAll returns the fields that every alternative of n requires.
func requiredByAll(n *node) []string {
	var shared []string
	for i, alt := range n.alternatives() {
		if i == 0 {
			shared = slices.Clone(alt.Required)
			continue
		}
		shared = slices.DeleteFunc(shared, func(name string) bool { return !slices.Contains(alt.Required, name) })
	}
	return shared
}
