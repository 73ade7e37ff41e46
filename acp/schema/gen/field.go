package main

import (
	"fmt"
	"slices"
)

// resolved is a Go type together with the expression that decodes it.
type resolved struct {
	typ     string
	decoder string
	shape   shape
}

// field is one field of a generated struct.
type field struct {
	jsonName string
	goName   string
	typ      string
	option   string // of the json tag, with its comma
	reader   string // the function that reads it; "" if it is not read
	decoder  string
	unstable bool
}

// resolve finds the Go type of a value. path names the field for our choices.
func (p *plan) resolve(n *node, path string) (resolved, error) {
	n = n.orNull()
	if ref := n.ref(); ref != "" {
		return p.resolveRef(ref)
	}
	switch {
	case n.Type.is("string"):
		return resolved{"string", "text[string]", shapeText}, nil
	case n.Type.is("boolean"):
		return resolved{"bool", "boolean", shapeBool}, nil
	case n.Type.is("integer"), n.Type.is("number"):
		typ, err := numeric(n.Format)
		return resolved{typ, "number[" + typ + "]", shapeNumber}, err
	case n.Type.is("array"):
		return p.resolveList(n, path)
	case n.Type.is("object") && string(n.Additional) == "true":
		return resolved{"map[string]any", "meta", shapeMap}, nil
	case n.Type.is("object") && n.mapValue() != nil:
		return p.resolveMap(n.mapValue(), path)
	case n.Type == nil && n.alternatives() == nil:
		return resolved{"json.RawMessage", "anything", shapeRaw}, nil
	}
	return resolved{}, fmt.Errorf("%s: no rule for type %v", path, n.Type)
}

func (p *plan) resolveRef(name string) (resolved, error) {
	if hand := byHand[name]; hand.typ != "" {
		return hand, nil
	}
	def := p.defs[name]
	if def == nil {
		return resolved{}, fmt.Errorf("no definition %s; if it is unstable, add it to the list", name)
	}
	s := p.shapeOf(name)
	r := resolved{typ: name, shape: s}
	switch s {
	case shapeText:
		r.decoder = "text[" + name + "]"
		if values, open := enumeration(def); len(values) > 0 && !open {
			r.decoder = "enum[" + name + "]"
		}
	case shapeNumber:
		r.decoder = "number[" + name + "]"
	case shapeUnion:
		r.decoder = "decode" + name
	default:
		r.decoder, r.shape = "record["+name+"]", shapeStruct
	}
	return r, nil
}

func (p *plan) resolveList(n *node, path string) (resolved, error) {
	element, err := p.resolve(n.Items, path)
	if err != nil {
		return resolved{}, err
	}
	objects := element.shape == shapeStruct || element.shape == shapeUnion
	kind := "strictList"
	if (n.SkipBad || objects) && !slices.Contains(strict, path) {
		kind = "list"
	}
	return resolved{"List[" + element.typ + "]", kind + "(" + element.decoder + ")", shapeList}, nil
}

func (p *plan) resolveMap(value *node, path string) (resolved, error) {
	element, err := p.resolve(value, path)
	return resolved{"map[string]" + element.typ, "dictionary(" + element.decoder + ")", shapeMap}, err
}

func numeric(format string) (string, error) {
	switch format {
	case "uint16", "uint32", "uint64", "int64":
		return format, nil
	case "double":
		return "float64", nil
	}
	return "", fmt.Errorf("no Go type for the number format %q", format)
}

// field plans one property of a struct.
func (p *plan) field(owner string, prop property, mustHave bool) (field, error) {
	path := owner + "." + prop.name
	if value, ok := p.singleton(prop.node); ok {
		return field{jsonName: prop.name, goName: goName(prop.name), typ: lowerFirst(value)}, nil
	}
	r, known := fieldTypes[path]
	if !known {
		var err error
		if r, err = p.resolve(prop.node, path); err != nil {
			return field{}, err
		}
	}
	f := field{
		jsonName: prop.name, goName: goName(prop.name), typ: r.typ, decoder: r.decoder, unstable: prop.unstable,
	}
	if mustHave {
		switch {
		case prop.Lenient:
			f.reader = "requiredLenient"
		case prop.NullIsZero:
			f.reader = "nullable"
		default:
			f.reader = "required"
		}
		return f, nil
	}
	f.reader = "optional"
	if prop.Lenient {
		f.reader = "lenient"
	}
	f.makeOptional(path, r, prop.Default != nil)
	return f, nil
}

// makeOptional chooses how absence is written in Go.
func (f *field) makeOptional(path string, r resolved, hasDefault bool) {
	f.option = ",omitempty"
	byPointer := false
	switch r.shape {
	case shapeList:
		f.option = ",omitzero" // an empty list that is there is not an absent one
		if slices.Contains(always, path) {
			f.option = ""
		}
	case shapeText:
		if slices.Contains(patches, path) {
			f.typ, f.option, f.reader = "Nullable["+r.typ+"]", ",omitzero", "patch"
			return
		}
		byPointer = slices.Contains(pointers, path)
	case shapeStruct:
		byPointer = !hasDefault
		if hasDefault {
			f.option = ",omitzero"
		}
	case shapeBool:
		byPointer = !hasDefault
	case shapeNumber:
		byPointer = true
	}
	if byPointer {
		f.typ, f.decoder = "*"+r.typ, "pointer("+r.decoder+")"
	}
}

// singleton returns the definition that n refers to if it has one value only: such a
// field needs no setting.
func (p *plan) singleton(n *node) (string, bool) {
	ref := n.ref()
	if ref == "" || byHand[ref].typ != "" || p.defs[ref] == nil || p.shapeOf(ref) != shapeText {
		return "", false
	}
	values, open := enumeration(p.defs[ref])
	return ref, len(values) == 1 && !open
}

// enumeration returns the values of a string definition, and whether others may come.
func enumeration(n *node) (values []string, open bool) {
	for _, alt := range n.alternatives() {
		var v string
		if alt.Const == nil || unmarshal(alt.Const, &v) != nil {
			open = true
			continue
		}
		values = append(values, v)
	}
	return values, open
}
