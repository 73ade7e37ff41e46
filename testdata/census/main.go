// Census prints how large the tree is: the types with the most fields and with the most
// methods, and the lines of each package.
//
//	go run ./testdata/census            # this tree
//	go run ./testdata/census -dir ../x  # another one
//
// It counts what the product is made of: no tests, no generated code and no test support,
// which is every directory testdata or testkit and every package whose name ends in "test".
// A line that holds anything but a comment is a line of code. Files for other systems count
// too; a method that several systems have counts once.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
)

func main() {
	dir := flag.String("dir", ".", "directory of the tree to count")
	most := flag.Int("types", 10, "how many types to list")
	flag.Parse()
	c, err := count(*dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, "census:", err)
		os.Exit(1)
	}
	c.print(os.Stdout, *most)
}

// census is what was counted.
type census struct {
	types    map[string]*typeSize // by "package.Name"
	packages map[string]*lines    // by directory
}

// typeSize is the size of one type. The names of its methods are a set, for files of
// several systems may declare the same one.
type typeSize struct {
	name    string
	fields  int
	methods map[string]bool
}

type lines struct {
	files, code, comments, blank int
}

func (l *lines) add(other lines) {
	l.files += other.files
	l.code += other.code
	l.comments += other.comments
	l.blank += other.blank
}

// count counts the tree in dir.
func count(dir string) (*census, error) {
	c := &census{types: map[string]*typeSize{}, packages: map[string]*lines{}}
	fset := token.NewFileSet()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != dir && skipped(d.Name()):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil || ast.IsGenerated(file) {
			return err
		}
		relative, err := filepath.Rel(dir, filepath.Dir(name))
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(relative)
		if c.packages[pkg] == nil {
			c.packages[pkg] = &lines{}
		}
		c.packages[pkg].add(countLines(text))
		c.countTypes(pkg, file)
		return nil
	})
	return c, err
}

// skipped reports whether a directory holds nothing of the product.
func skipped(base string) bool {
	return base == "testdata" || base == "testkit" || base == "testreq" || base == "node_modules" || base == "bin" ||
		strings.HasSuffix(base, "test") || base[0] == '.' || base[0] == '_'
}

// countTypes counts the fields and methods that a file declares.
func (c *census) countTypes(pkg string, file *ast.File) {
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv != nil {
				c.typeOf(pkg, receiver(decl)).methods[decl.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				if spec, ok := spec.(*ast.TypeSpec); ok {
					c.countType(pkg, spec)
				}
			}
		}
	}
}

func (c *census) countType(pkg string, spec *ast.TypeSpec) {
	size := c.typeOf(pkg, spec.Name.Name)
	switch t := spec.Type.(type) {
	case *ast.StructType:
		size.fields = max(size.fields, t.Fields.NumFields())
	case *ast.InterfaceType:
		for _, field := range t.Methods.List {
			for _, name := range field.Names {
				size.methods[name.Name] = true
			}
		}
	}
}

func (c *census) typeOf(pkg, name string) *typeSize {
	key := pkg + "." + name
	if c.types[key] == nil {
		c.types[key] = &typeSize{name: key, methods: map[string]bool{}}
	}
	return c.types[key]
}

// receiver is the name of the type that a method belongs to.
func receiver(decl *ast.FuncDecl) string {
	t := decl.Recv.List[0].Type
	for {
		switch inner := t.(type) {
		case *ast.StarExpr:
			t = inner.X
		case *ast.IndexExpr:
			t = inner.X
		case *ast.IndexListExpr:
			t = inner.X
		case *ast.ParenExpr:
			t = inner.X
		case *ast.Ident:
			return inner.Name
		default:
			return "?"
		}
	}
}

func (c *census) print(out io.Writer, most int) {
	c.printTypes(out, most, "methods", func(t *typeSize) int { return len(t.methods) })
	c.printTypes(out, most, "fields", func(t *typeSize) int { return t.fields })
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "files\tcode\tcomments\tblank\t  package\n")
	dirs := make([]string, 0, len(c.packages))
	for dir := range c.packages {
		dirs = append(dirs, dir)
	}
	slices.SortFunc(dirs, func(a, b string) int {
		return cmp.Or(cmp.Compare(c.packages[b].code, c.packages[a].code), cmp.Compare(a, b))
	})
	var total lines
	for _, dir := range dirs {
		l := c.packages[dir]
		total.add(*l)
		fmt.Fprintf(w, "%d\t%d\t%d\t%d\t  %s\n", l.files, l.code, l.comments, l.blank, dir)
	}
	fmt.Fprintf(w, "%d\t%d\t%d\t%d\t  total of %d packages\n", total.files, total.code, total.comments, total.blank, len(dirs))
	w.Flush()
}

// printTypes prints the types that are largest by one measure.
func (c *census) printTypes(out io.Writer, most int, measure string, size func(*typeSize) int) {
	all := make([]*typeSize, 0, len(c.types))
	for _, t := range c.types {
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b *typeSize) int {
		return cmp.Or(cmp.Compare(size(b), size(a)), cmp.Compare(a.name, b.name))
	})
	fmt.Fprintf(out, "The types with the most %s:\n\n", measure)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "fields\tmethods\t  type\n")
	for _, t := range all[:min(most, len(all))] {
		fmt.Fprintf(w, "%d\t%d\t  %s\n", t.fields, len(t.methods), t.name)
	}
	w.Flush()
	fmt.Fprintln(out)
}
