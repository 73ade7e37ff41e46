package main

import (
	"encoding/json"
	"fmt"
	"slices"
)

// shape is what a definition or a field becomes in Go.
type shape int

const (
	shapeText   shape = iota // a string type, possibly with constants
	shapeBool                // bool
	shapeNumber              // a numeric type
	shapeStruct              // a struct
	shapeUnion               // a sealed interface
	shapeFlat                // a union whose variants share one struct
	shapeAlias               // another name of a definition
	shapeList                // List
	shapeMap                 // map
	shapeRaw                 // json.RawMessage
)

// variant is one way a union can be.
type variant struct {
	tag      string // value of the discriminator; "" if there is none
	goName   string
	own      *node  // the alternative itself
	ref      string // the definition it builds on; "" if none
	embedded bool   // goName embeds ref instead of repeating its fields
	distinct string // without discriminator: a required field that only this one has
}

// union is the plan of a sealed interface.
type union struct {
	name          string
	discriminator string // "" if the variants are told apart by their fields
	variants      []variant
	base          *node // fields that all variants share; nil if none
}

// tagged is the discriminator of a struct that is a variant.
type tagged struct{ field, value string }

// plan holds what has to be known about all definitions before the first is rendered.
type plan struct {
	defs    map[string]*node
	unions  map[string]*union
	tags    map[string]tagged   // by Go name of the variant
	markers map[string][]string // unions that a struct belongs to, by Go name
}

func newPlan(defs map[string]*node) (*plan, error) {
	p := &plan{defs: defs, unions: map[string]*union{}, tags: map[string]tagged{}, markers: map[string][]string{}}
	plain, alternative := p.uses()
	for _, name := range sortedKeys(defs) {
		if slices.Contains(skipped, name) || byHand[name].typ != "" || p.shapeOf(name) != shapeUnion ||
			plain[name] == 0 { // its fields dissolve in a flat struct
			continue
		}
		u, err := p.planUnion(name, plain, alternative)
		if err != nil {
			return nil, fmt.Errorf("union %s: %w", name, err)
		}
		p.unions[name] = u
		for _, v := range u.variants {
			p.markers[v.goName] = append(p.markers[v.goName], name)
			if v.tag != "" {
				p.tags[v.goName] = tagged{u.discriminator, v.tag}
			}
		}
	}
	return p, nil
}

// uses counts how often a definition is used as a value of its own, and as a part of a
// union's variant.
func (p *plan) uses() (plain, alternative map[string]int) {
	plain, alternative = map[string]int{}, map[string]int{}
	var walk func(n *node)
	walk = func(n *node) {
		if n == nil {
			return
		}
		for _, prop := range n.Properties {
			plain[prop.orNull().ref()]++
			walk(prop.node)
		}
		if n.Items != nil {
			plain[n.Items.ref()]++
			walk(n.Items)
		}
		if value := n.mapValue(); value != nil {
			plain[value.ref()]++
		}
		if n.ref() == "" {
			for _, alt := range n.alternatives() {
				alternative[alt.ref()]++
				walk(alt)
			}
		}
	}
	for name, def := range p.defs {
		if !slices.Contains(skipped, name) {
			walk(def)
		}
	}
	return plain, alternative
}

// shapeOf judges a definition.
func (p *plan) shapeOf(name string) shape {
	n := p.defs[name]
	alt := n.alternatives()
	switch {
	case byHand[name].typ != "":
		return byHand[name].shape
	case len(alt) == 1 && alt[0].ref() != "":
		return shapeAlias
	case len(alt) > 0 && alt[0].Type.is("string") && alt[0].Properties == nil:
		return shapeText
	case len(alt) > 0 && n.Method != "":
		return shapeFlat
	case len(alt) > 0:
		return shapeUnion
	case n.Type.is("string"):
		return shapeText
	case n.Type.is("integer"):
		return shapeNumber
	default:
		return shapeStruct
	}
}

func (p *plan) planUnion(name string, plain, alternative map[string]int) (*union, error) {
	def := p.defs[name]
	u := &union{name: name}
	if len(def.Properties) > 1 { // more than _meta
		u.base = def
	}
	for _, alt := range def.alternatives() {
		if alt.Not != nil {
			continue // the schema's own catch-all; every union has one here
		}
		v := variant{own: alt, ref: alt.ref()}
		if disc, value := constant(alt); disc != "" {
			if u.discriminator != "" && u.discriminator != disc {
				return nil, fmt.Errorf("discriminators %s and %s", u.discriminator, disc)
			}
			u.discriminator, v.tag = disc, value
		}
		own := v.ref != "" && u.base == nil && plain[v.ref] == 0 && alternative[v.ref] == 1
		v.embedded = v.ref != "" && u.base == nil && plain[v.ref] > 0
		switch {
		case own:
			v.goName = v.ref
		case variantNames[name+"."+v.tag] != "":
			v.goName = variantNames[name+"."+v.tag]
		default:
			return nil, fmt.Errorf("variant %q has no name; add one to variantNames", v.tag)
		}
		u.variants = append(u.variants, v)
	}
	if u.discriminator == "" {
		return u, p.distinguish(u)
	}
	return u, nil
}

// distinguish finds for each variant a required field that the others do not have.
func (p *plan) distinguish(u *union) error {
	for i := range u.variants {
		v := &u.variants[i]
		for _, field := range p.defs[v.ref].Required {
			unique := !slices.ContainsFunc(u.variants, func(other variant) bool {
				return other.ref != v.ref && p.defs[other.ref].Properties.get(field) != nil
			})
			if unique {
				v.distinct = field
				break
			}
		}
		if v.distinct == "" {
			return fmt.Errorf("nothing tells %s apart", v.ref)
		}
	}
	return nil
}

// constant returns the property of n that has a fixed string value.
func constant(n *node) (name, value string) {
	for _, prop := range n.Properties {
		if prop.Const != nil && json.Unmarshal(prop.Const, &value) == nil {
			return prop.name, value
		}
	}
	return "", ""
}
