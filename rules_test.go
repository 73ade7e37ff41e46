package rules

import (
	"bufio"
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const module = "acp-agent"

// room is one package in the house: its floor, and the neighbours on the same floor that
// it may import. Packages on lower floors may be imported always, see never.
type room struct {
	floor      int
	neighbours []string
}

// rooms is the graph of ARCHITECTURE.md. A new package needs a line here, and that is
// the place to think about where it belongs.
var rooms = map[string]room{
	"cmd/acp-agent": {6, []string{"internal/app"}},
	"internal/app":  {6, nil},

	// Tests of the whole agent.
	"internal/e2e/commands":    {6, nil},
	"internal/e2e/interop":     {6, nil},
	"internal/e2e/models":      {6, nil},
	"internal/e2e/permissions": {6, nil},
	"internal/e2e/protocol":    {6, nil},
	"internal/e2e/sandbox":     {6, nil},
	"internal/e2e/scripts":     {6, nil},
	"internal/e2e/sources":     {6, nil},
	"internal/e2e/subagents":   {6, nil},

	"acp":        {5, []string{"acp/v1", "acp/schema", "acp/rpc"}},
	"acp/v1":     {5, []string{"acp/schema", "acp/rpc"}},
	"acp/schema": {5, nil},
	// A program that writes acp/schema.
	"acp/schema/gen": {5, []string{"acp/schema", "internal/testkit/schematest", "internal/testkit/testfile"}},
	"acp/rpc":        {5, nil},

	"session": {4, nil},

	"subagent": {3, nil},

	"loop": {2, nil},

	"tools":                   {1, nil},
	"tools/bridge":            {1, []string{"tools"}},
	"tools/builtin":           {1, []string{"tools"}},
	"tools/mount":             {1, []string{"tools", "tools/bridge", "tools/stream"}},
	"tools/mount/mounttest":   {1, []string{"tools", "tools/mount"}},
	"tools/provider":          {1, []string{"tools", "tools/bridge", "tools/stream"}},
	"tools/stream":            {1, []string{"tools"}},
	"tools/pipeline":          {1, []string{"tools", "tools/bridge", "workspace", "workspace/run", "workspace/undo", "workspace/undo/journal"}},
	"tools/tooltest":          {1, []string{"tools"}},
	"workspace":               {1, []string{"tools", "workspace/private", "workspace/run", "workspace/undo", "workspace/undo/journal", "workspace/undo/recovery", "workspace/undo/snapshot", "workspace/undo/timeline"}},
	"workspace/undo":          {1, []string{"tools", "workspace/undo/journal", "workspace/undo/snapshot", "workspace/undo/timeline"}},
	"workspace/undo/journal":  {1, nil},
	"workspace/undo/snapshot": {1, nil},
	"workspace/undo/timeline": {1, nil},
	"workspace/undo/recovery": {1, []string{"workspace/private", "workspace/undo/journal"}},
	"workspace/private":       {1, nil},
	"workspace/run":           {1, []string{"tools", "workspace/undo/journal", "workspace/private"}},
	"mcp":                     {1, []string{"tools", "mcp/oauth"}},
	"store":                   {1, nil},
	"export":                  {1, []string{"store"}},
	"mcp/oauth":               {1, nil},

	"audit":                {0, []string{"internal/textcut", "internal/userfile"}},
	"capability":           {0, nil},
	"commands":             {0, []string{"internal/pathname", "internal/record", "internal/strictread", "kinds", "permissions/projects", "skills"}},
	"compaction":           {0, []string{"internal/textcut", "model", "transcript"}},
	"config":               {0, []string{"internal/launch", "internal/pathname", "internal/redact", "internal/regularfile", "internal/strictread", "model/preset", "permissions"}},
	"kinds":                {0, nil},
	"model":                {0, []string{"internal/jsonscan", "transcript"}},
	"model/anthropic":      {0, []string{"model", "model/wire", "transcript"}},
	"model/catalogue":      {0, nil},
	"model/catalogue/gen":  {0, nil},
	"model/openai":         {0, []string{"model", "model/catalogue", "model/wire", "transcript"}},
	"model/preset":         {0, nil},
	"model/record":         {0, []string{"internal/record", "model", "transcript"}},
	"model/responses":      {0, []string{"model", "model/openai", "model/wire", "transcript"}},
	"model/router":         {0, []string{"model"}},
	"model/script":         {0, []string{"internal/pause", "model", "transcript"}},
	"model/textcalls":      {0, []string{"model", "transcript"}},
	"model/wire":           {0, []string{"internal/jsonscan", "model", "transcript"}},
	"permissions":          {0, []string{"capability", "internal/pathname"}},
	"permissions/command":  {0, []string{"capability", "permissions", "internal/pathname", "internal/shell"}},
	"permissions/watchdog": {0, []string{"capability", "permissions", "permissions/command", "internal/pathname"}},
	"sandbox":              {0, []string{"internal/gitdir", "internal/launch", "internal/nsfork", "internal/pathname", "internal/redact", "internal/userfile"}},
	"skills":               {0, []string{"internal/pathname", "internal/rootfile", "internal/strictread", "internal/textcut", "kinds"}},
	"transcript":           {0, []string{"internal/textcut", "kinds"}},

	"internal/ansi":         {0, nil},
	"internal/bm25":         {0, nil},
	"internal/cgroup":       {0, []string{"internal/pathname"}},
	"internal/fileuri":      {0, nil},
	"internal/gitdir":       {0, []string{"internal/pathname", "internal/regularfile"}},
	"internal/gitignore":    {0, nil},
	"internal/jsonscan":     {0, nil},
	"internal/launch":       {0, []string{"internal/cgroup", "internal/pathname", "internal/redact"}},
	"internal/lsp":          {0, []string{"internal/fileuri", "internal/pathname", "internal/pause", "internal/peer", "internal/supervise", "internal/textcut"}},
	"internal/egress":       {0, []string{"internal/network", "internal/pause", "internal/relay"}},
	"internal/netns":        {0, []string{"internal/textcut"}},
	"internal/nsfork":       {0, nil},
	"internal/network":      {0, nil},
	"internal/observe":      {0, nil},
	"internal/packagehosts": {0, []string{"internal/pathname", "internal/regularfile"}},
	"internal/pathname":     {0, nil},
	"internal/patch":        {0, []string{"internal/textedit"}},
	"permissions/projects":  {0, []string{"capability", "permissions", "internal/pathname", "internal/rootfile", "internal/textedit", "internal/userfile"}},
	"internal/pause":        {0, nil},
	"internal/peer":         {0, []string{"internal/textcut"}},
	"internal/record":       {0, []string{"internal/jsonscan", "internal/redact"}},
	"internal/redact":       {0, []string{"internal/jsonscan"}},
	"internal/regularfile":  {0, []string{"internal/rootfile"}},
	"internal/relay":        {0, nil},
	"internal/replay":       {0, []string{"internal/pause", "internal/record"}},
	"internal/resultcache":  {0, []string{"internal/pathname"}},
	"internal/rootfile":     {0, nil},
	"internal/search":       {0, []string{"internal/gitignore"}},
	"internal/shell":        {0, nil},
	"internal/strictread":   {0, nil},
	"internal/supervise":    {0, nil},
	"internal/textcut":      {0, nil},
	"internal/textedit":     {0, []string{"internal/textcut"}},
	"internal/login":        {0, []string{"internal/tokens", "internal/userfile"}},
	"internal/tokens":       {0, []string{"internal/userfile"}},
	"internal/trace":        {0, nil},
	"internal/userfile":     {0, []string{"internal/rootfile"}},
	"internal/webpage":      {0, []string{"internal/textcut"}},
	"internal/websearch":    {0, []string{"internal/pause", "internal/textcut"}},

	// What tests of several packages stand on.
	"internal/testkit/acptest":           {5, []string{"acp/schema", "internal/testkit/schematest"}},
	"internal/testkit/agenttest":         {6, []string{"internal/app"}},
	"internal/testkit/anthropictest":     {0, nil},
	"internal/testkit/cases":             {0, []string{"internal/testkit/testfile", "internal/testkit/testreq"}},
	"internal/testkit/editor":            {5, []string{"internal/testkit/acptest"}},
	"internal/testkit/gguf":              {0, nil},
	"internal/testkit/helpertest":        {0, nil},
	"internal/testkit/helpertest/helper": {0, []string{"internal/egress", "internal/launch", "internal/netns", "sandbox"}},
	"internal/testkit/mcptest":           {1, nil},
	"internal/testkit/modeltest":         {0, []string{"internal/pause", "model", "transcript"}},
	"internal/testkit/responsestest":     {0, nil},
	"internal/testkit/schematest":        {5, []string{"acp/schema"}},
	"internal/testkit/shelltrace":        {0, []string{"internal/pathname"}},
	"internal/testkit/termpicture":       {0, nil},
	"internal/testkit/testfile":          {0, nil},
	"internal/testkit/worktest":          {1, []string{"internal/testkit/testreq", "tools", "workspace", "workspace/run"}},
	"internal/testkit/testreq":           {0, nil},
}

// never are imports that the floors would allow, with the reason.
var never = []struct {
	from, to string   // patterns of path.Match; from "*" is every package
	except   []string // patterns, too
	why      string
}{
	{"*", "config", []string{"internal/app"}, "the program reads the configuration and hands out small structs"},
	{"*", "internal/testkit/*", []string{"internal/testkit/*", "acp/schema/gen", "tools/tooltest"}, "it is for tests"},
	{"*", "tools/tooltest", []string{"internal/app"}, "it is for tests, and for validate, which applies its rules"},
	{"*", "tools/mount/mounttest", nil, "it is for tests"},
	{"*", "internal/regularfile", []string{"config", "internal/gitdir", "internal/packagehosts"}, "it opens files by their path: the configuration before there is a session, what git itself would read, and settings of package managers by names that are known"},
	{"*", "internal/userfile", []string{"audit", "internal/login", "permissions/projects", "internal/tokens", "sandbox", "store", "workspace", "workspace/private", "workspace/run", "internal/app"}, "it opens files by their path, and is for the agent's own"},
	{"tools", "permissions*", nil, "a tool states its needs and leaves the judging to the pipeline"},
	{"tools/builtin", "permissions*", nil, "a tool states its needs and leaves the judging to the pipeline"},
	{"tools/builtin", "model*", nil, "a tool that wants a model asks its spawner"},
	{"acp/rpc", "*", nil, "the wire knows no other package"},
	{"acp/schema", "*", nil, "the types of the protocol know no other package"},
	{"kinds", "*", nil, "everything rests on it"},
	{"*", "github.com/openai/openai-go/*", []string{"model/openai"}, "one package speaks to model servers"},
	{"*", "github.com/modelcontextprotocol/go-sdk/*", []string{"mcp", "internal/testkit/mcptest", "mcp/oauth"}, "one package speaks to MCP servers, and one signs in to them"},
	{"*", "github.com/klauspost/compress/*", []string{"store"}, "one package compresses"},
	{"*", "github.com/sourcegraph/jsonrpc2", []string{"acp/rpc", "internal/lsp"}, "one package speaks JSON-RPC to the editor, and one to language servers"},
}

// source is one Go file, parsed.
type source struct {
	name, dir string
	text      []byte
	file      *ast.File
	test      bool
	generated bool
}

func (s source) imports() []string {
	var paths []string
	for _, spec := range s.file.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			panic(err) // the parser took it
		}
		paths = append(paths, p)
	}
	return paths
}

// line is where a node stands, for messages.
func (s source) line(n ast.Node) string {
	return s.name + ":" + strconv.Itoa(1+bytes.Count(s.text[:n.Pos()-s.file.FileStart], []byte("\n")))
}

// tree parses every Go file once, whatever system it is for.
var tree = sync.OnceValues(func() ([]source, error) {
	var all []source
	fset := token.NewFileSet()
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if d.IsDir() && name != "." && (base == "testdata" || base == "node_modules" || base[0] == '.' || base[0] == '_') {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(base, ".go") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(fset, name, text, parser.ParseComments)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		all = append(all, source{
			name: name, dir: path.Dir(name), text: text, file: file,
			test: strings.HasSuffix(base, "_test.go"), generated: ast.IsGenerated(file),
		})
		return nil
	})
	return all, err
})

func sources(t *testing.T) []source {
	t.Helper()
	all, err := tree()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 50 {
		t.Fatalf("only %d Go files found: the walk is broken", len(all))
	}
	return all
}

func TestRules_Imports(t *testing.T) {
	for _, s := range sources(t) {
		if s.dir == "." {
			continue
		}
		from, known := rooms[s.dir]
		if !known {
			t.Errorf("%s: package %s is on no floor: add it to rooms in rules_test.go, and to ARCHITECTURE.md", s.name, s.dir)
			continue
		}
		if s.test {
			continue
		}
		for _, imported := range s.imports() {
			to, ours := strings.CutPrefix(imported, module+"/")
			if ours {
				if r := rooms[to]; r.floor > from.floor || r.floor == from.floor && !slices.Contains(from.neighbours, to) {
					t.Errorf("%s: %s (floor %d) imports %s (floor %d), which is neither lower nor a listed neighbour", s.name, s.dir, from.floor, to, r.floor)
				}
			}
			for _, n := range never {
				if n.to == "*" && !ours || slices.ContainsFunc(n.except, func(p string) bool { return match(p, s.dir) }) || !match(n.from, s.dir) || !match(n.to, to) {
					continue
				}
				t.Errorf("%s: %s must not import %s: %s", s.name, s.dir, to, n.why)
			}
		}
	}
	for dir := range rooms {
		if !slices.ContainsFunc(sources(t), func(s source) bool { return s.dir == dir }) {
			t.Errorf("rooms lists %s, which does not exist: take it out", dir)
		}
	}
}

// match is path.Match in which a star at the end crosses slashes.
func match(pattern, name string) bool {
	if prefix, open := strings.CutSuffix(pattern, "*"); open {
		return strings.HasPrefix(name, prefix)
	}
	return pattern == name
}

// TestRules_System is R12: what tools do to the system passes through their runtime,
// where it is judged, confined and recorded.
func TestRules_System(t *testing.T) {
	forbidden := []string{"os", "os/exec", "net", "net/http", "syscall", "io/ioutil", "plugin", "unsafe"}
	paths := []string{"Walk", "WalkDir", "Glob", "EvalSymlinks", "Abs"}
	for _, s := range sources(t) {
		if s.test || s.dir != "tools" && s.dir != "tools/builtin" && s.dir != "tools/pipeline" {
			continue
		}
		for _, imported := range s.imports() {
			if slices.Contains(forbidden, imported) || strings.HasPrefix(imported, "golang.org/x/sys") {
				t.Errorf("%s: imports %s; use the tools.Runtime that the call is handed (R12)", s.name, imported)
			}
		}
		each(s, func(sel *ast.SelectorExpr, pkg string) {
			if pkg == "filepath" && slices.Contains(paths, sel.Sel.Name) {
				t.Errorf("%s: filepath.%s looks at the disk; use the tools.Runtime that the call is handed (R12)", s.line(sel), sel.Sel.Name)
			}
		})
	}
}

// TestRules_Stdout keeps stdout for the protocol, and foreign lines whole.
func TestRules_Stdout(t *testing.T) {
	mayStdout := []string{"internal/app", "acp/rpc", "acp/schema/gen", "internal/launch", "internal/testkit/helpertest/helper"} // launch: the helper's own stdout is a command's
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		each(s, func(sel *ast.SelectorExpr, pkg string) {
			name := sel.Sel.Name
			switch {
			case pkg == "fmt" && strings.HasPrefix(name, "Print"), pkg == "os" && name == "Stdout":
				if !slices.Contains(mayStdout, s.dir) {
					t.Errorf("%s: %s.%s: stdout belongs to the protocol; log, or write to the writer you are given", s.line(sel), pkg, name)
				}
			case pkg == "bufio" && (name == "Scanner" || name == "NewScanner"):
				t.Errorf("%s: bufio.%s stops at a line of 64 KiB (X6); read with bufio.Reader, or split the text with strings.Lines", s.line(sel), name)
			}
		})
	}
}

// each calls f for every name.Selector in the file whose name is not a local variable.
func each(s source, f func(sel *ast.SelectorExpr, pkg string)) {
	ast.Inspect(s.file, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := sel.X.(*ast.Ident); ok {
				f(sel, id.Name)
			}
		}
		return true
	})
}

// TestRules_Templates keeps text/template out of the binary: it calls methods by their names,
// so that the linker cannot drop any, which is 12 MB. Cobra links it for templates of its own
// texts; its defaults are functions.
func TestRules_Templates(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || s.dir != "internal/app" {
			continue
		}
		each(s, func(sel *ast.SelectorExpr, _ string) {
			if name := sel.Sel.Name; strings.HasPrefix(name, "Set") && strings.HasSuffix(name, "Template") {
				t.Errorf("%s: %s links text/template, which makes the binary 12 MB larger; write the text yourself", s.line(sel), name)
			}
		})
	}
}

func TestRules_Docs(t *testing.T) {
	docs := map[string]bool{}
	for _, s := range sources(t) {
		if _, seen := docs[s.dir]; !seen {
			docs[s.dir] = false
		}
		if path.Base(s.name) != "doc.go" {
			continue
		}
		docs[s.dir] = true
		if s.file.Doc == nil || len(s.file.Decls) > 0 {
			t.Errorf("%s: holds the package comment and nothing else", s.name)
			continue
		}
		text := s.file.Doc.Text()
		opening := "Package " + s.file.Name.Name + " "
		if s.file.Name.Name == "main" {
			opening = ""
		}
		if !strings.HasPrefix(text, opening) || !strings.Contains(text, "\n# Requirements\n") {
			t.Errorf("%s: the comment starts with %q and has a section # Requirements", s.name, opening)
		}
	}
	for dir, has := range docs {
		if !has {
			t.Errorf("package %s has no doc.go: say what it owns, what it refuses to know, what it imports and starts", dir)
		}
	}
}

func TestRules_Code(t *testing.T) {
	// A table of cases may run longer than code.
	const most, mostInTests = 400, 600
	marks := regexp.MustCompile(`\b(TODO|FIXME)\b`)
	for _, s := range sources(t) {
		limit := most
		if strings.HasSuffix(s.name, "_test.go") {
			limit = mostInTests
		}
		if lines := bytes.Count(s.text, []byte("\n")); lines > limit && !s.generated {
			t.Errorf("%s: %d lines; at most %d, so that one file holds one idea", s.name, lines, limit)
		}
		for _, c := range s.file.Comments {
			if mark := marks.FindString(c.Text()); mark != "" {
				t.Errorf("%s: a %s: do it, or open an issue", s.line(c), mark)
			}
		}
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s: func init: construct it where it is wired", s.line(f))
			}
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR && !strings.HasSuffix(s.name, "_test.go") && !strings.HasPrefix(s.dir, "internal/testkit/") && compiles(g) {
				t.Errorf("%s: an expression that every start compiles, that of each command's helper too: use sync.OnceValue", s.line(g))
			}
		}
	}
}

// compiles reports whether a declaration compiles a regular expression outside of a function.
func compiles(g *ast.GenDecl) (found bool) {
	ast.Inspect(g, func(n ast.Node) bool {
		if _, later := n.(*ast.FuncLit); later {
			return false
		}
		sel, ok := n.(*ast.SelectorExpr)
		found = found || ok && sel.Sel.Name == "MustCompile"
		return !found
	})
	return found
}

// TestRules_Skips sends every skip for want of something through internal/testkit/testreq, so
// that CI notices. What stays are tests that do not apply (-short, another system, root)
// and inputs that a fuzz target or a property does not take.
func TestRules_Skips(t *testing.T) {
	applies := regexp.MustCompile(`testing\.Short\(\)|runtime\.GOOS|os\.Gete?uid\(\)`)
	for _, s := range sources(t) {
		if s.dir == "internal/testkit/testreq" {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return !bytes.Contains(s.text[n.Pos()-s.file.FileStart:n.Body.Pos()-s.file.FileStart], []byte("*rapid.T"))
			case *ast.IfStmt:
				return !applies.Match(s.text[n.Cond.Pos()-s.file.FileStart : n.Cond.End()-s.file.FileStart])
			case *ast.CallExpr:
				sel, ok := n.Fun.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				recv, ok := sel.X.(*ast.Ident)
				if !ok || !slices.Contains([]string{"t", "b", "f", "tb"}, recv.Name) {
					return true
				}
				if strings.HasPrefix(sel.Sel.Name, "Skip") {
					t.Errorf("%s: %s.%s: use testreq.Skip, which fails in CI", s.line(n), recv.Name, sel.Sel.Name)
				}
				return sel.Sel.Name != "Fuzz"
			}
			return true
		})
	}
}

// TestRules_Module holds go.mod to what was asked for and to what can be built anywhere.
func TestRules_Module(t *testing.T) {
	text, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	direct := map[string]bool{}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(lines.Text()), "require "))
		if len(fields) == 0 {
			continue
		}
		if fields[0] == "replace" {
			t.Error("go.mod: a replace keeps go install from working")
		}
		if len(fields) == 2 {
			direct[fields[0]] = true
		}
	}
	for _, mod := range []string{
		"github.com/bmatcuk/doublestar/v4", "github.com/openai/openai-go/v3",
		"github.com/sergi/go-diff", "github.com/sourcegraph/jsonrpc2",
	} {
		if !direct[mod] {
			t.Errorf("go.mod: %s must be required directly", mod)
		}
		used := slices.ContainsFunc(sources(t), func(s source) bool {
			return !s.test && slices.ContainsFunc(s.imports(), func(p string) bool { return match(mod+"*", p) })
		})
		if !used {
			t.Errorf("go.mod: %s must be imported by code that is no test", mod)
		}
	}
}
