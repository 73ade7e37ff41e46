package rules

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// described is the beginning of a comment that names what it is about.
var described = regexp.MustCompile(`^([A-Za-z]\w*) (?:is|returns|reports|says|keeps|gives|takes|makes) `)

// pronouns may begin a comment in the place of the name.
var pronouns = strings.Fields("It This That What Which Each Every One None Nothing Everything Neither Either There Both No A An The")

// A comment that describes a declaration under another name is left over from a former name.
func TestRules_DocNames(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || s.generated {
			continue
		}
		check := func(doc *ast.CommentGroup, names ...*ast.Ident) {
			if doc == nil || len(names) == 0 {
				return
			}
			found := described.FindStringSubmatch(doc.Text())
			if found == nil || slices.Contains(pronouns, found[1]) {
				return
			}
			for _, name := range names {
				if name.Name == found[1] {
					return
				}
			}
			t.Errorf("%s: the comment is about %s, and the name is %s", s.line(doc), found[1], names[0].Name)
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				check(n.Doc, n.Name)
				return false // what is in it has no names that others read
			case *ast.GenDecl:
				if len(n.Specs) == 1 {
					check(n.Doc, declared(n.Specs[0])...)
				}
			case *ast.TypeSpec:
				check(n.Doc, n.Name)
			case *ast.ValueSpec:
				check(n.Doc, n.Names...)
			case *ast.Field:
				check(n.Doc, n.Names...)
			}
			return true
		})
	}
}

// declared returns the names that a declaration of one thing gives.
func declared(spec ast.Spec) []*ast.Ident {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		return []*ast.Ident{spec.Name}
	case *ast.ValueSpec:
		return spec.Names
	}
	return nil
}
