package rules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// opener is a package that reaches files by path, and the functions that it may do
// so with.
type opener struct {
	names string // of functions, as they are called
	why   string
}

// openers are all packages that may reach a file by its path (P1). What a tool reads
// or writes goes through workspace, which resolves the path, opens it beneath a root's
// handle and proves what it opened. Everybody else is here for files that no model
// names, each with the reason. An entry that is no longer needed fails the test.
var openers = map[string]opener{
	"workspace": {
		"os.Lstat os.OpenRoot os.Readlink unix.Statfs windows.GetLongPathName",
		"it is the one door: it follows links by hand, opens roots, and works below them by handle",
	},
	"workspace/run": {
		"filepath.WalkDir filepath.EvalSymlinks os.Lstat os.OpenRoot os.ReadDir os.Readlink os.Stat",
		"names in the session's directories and in the working trees around them, to know which are secret or protected; what was moved aside, in our own data directory; where the links on the PATH of a command with a login lead",
	},
	"internal/netns": {
		"os.Stat",
		"the system's own program that joins a namespace",
	},
	"workspace/private": {
		"os.Lstat os.Mkdir os.OpenRoot os.ReadDir os.Remove os.Stat",
		"the session's own private directory, and directories that sessions of killed processes left",
	},
	"workspace/undo/recovery": {
		"os.Lstat os.OpenRoot os.ReadDir os.ReadFile os.Remove",
		"notes in the private directory of a dead session, and the directories that they name",
	},
	"internal/packagehosts": {
		"os.Readlink",
		"where the settings of package managers lead, so that a file of a project is none of them",
	},
	"internal/gitdir": {
		"filepath.EvalSymlinks os.Lstat os.ReadDir os.Stat",
		"what git itself would read to find its repository and those of submodules, also above the session's directories; regular files only",
	},
	"internal/rootfile": {"unix.Renameat2 unix.RenameatxNp", "two names below handles that workspace gave it"},
	"internal/cgroup": {
		"os.Mkdir os.OpenFile os.ReadDir os.ReadFile os.Remove os.Stat syscall.Rmdir",
		"the kernel's own files: cgroups by names that it made, the mount table, and processes",
	},
	"internal/search": {"unix.Openat unix.Fstatat", "single names below a handle that workspace gave it, no link followed"},
	"sandbox": {
		"os.Lstat os.Mkdir os.MkdirAll os.MkdirTemp os.Open os.ReadDir os.ReadFile os.Readlink os.Remove os.RemoveAll os.Stat os.WriteFile filepath.EvalSymlinks filepath.Glob unix.Open unix.Openat2",
		"what is mounted or allowed for a process, from the session's roots and the person's home; the trials in a directory of its own",
	},
	"skills": {
		"os.Lstat os.OpenFile os.OpenRoot os.Readlink os.Stat filepath.EvalSymlinks",
		"instructions and skills, read before there is a session; a link out of the project is refused, a file is opened through the base's handle",
	},
	"internal/websearch": {"os.ReadFile", "the answers of a scripted provider, from a file that the person configured"},
	"internal/launch": {
		"os.MkdirTemp os.Open os.ReadDir os.ReadFile os.Readlink os.Remove os.RemoveAll os.Stat os.WriteFile filepath.EvalSymlinks unix.Open syscall.Mkfifo",
		"programs on the PATH, the process table, what sockets processes of ours have open, and the pipes between us and our helper in a directory of its own",
	},
	"audit": {
		"os.OpenFile os.ReadDir os.ReadFile os.Remove",
		"its own record in our own data directory, by names that it made",
	},
	"store": {
		"os.Hostname os.Link os.Lstat os.OpenRoot os.ReadDir os.Remove os.Rename",
		"sessions in our own data directory, by names that it made or checked",
	},
	"acp/rpc": {"os.OpenFile", "the pipe or terminal that standard error is already, opened anew so that a crash does not wait for it"},
	"permissions/projects": {
		"os.OpenRoot os.ReadDir os.Remove os.Rename filepath.Abs filepath.EvalSymlinks",
		"records of projects in our own data directory; a project's configuration through a handle of its top, for the hash of trust",
	},
	"internal/record": {
		"os.OpenFile os.Remove",
		"the file that the user named with --record, which is new",
	},
	"internal/regularfile": {
		"os.OpenFile",
		"files whose content is not trusted, for the packages that rules_test.go names; regular files only",
	},
	"internal/userfile": {
		"os.Lstat os.MkdirAll os.Open os.OpenFile os.Remove os.Rename os.Stat unix.Access unix.Statfs",
		"files of the agent itself, for the packages that rules_test.go names",
	},
	"tools/mount": {
		"os.Lstat os.Open os.ReadDir os.Stat filepath.Abs filepath.EvalSymlinks",
		"modules and toolboxes that the person's own configuration names; who owns them is checked",
	},
	"internal/app": {
		"os.CreateTemp os.Hostname os.MkdirAll os.MkdirTemp os.Open os.OpenFile os.Remove os.RemoveAll os.Rename os.Stat os.WriteFile filepath.Abs",
		"the log, doctor's trial of its own directories, the demo's scratch project, and files named on the command line",
	},
	"model/catalogue/gen": {"os.ReadFile os.WriteFile", "a program for developers"},
	"acp/schema/gen":      {"os.ReadFile os.Remove os.WriteFile filepath.Glob", "a program for developers"},
}

// harmless are the names of package os that reach no file by a path: handles and
// their methods, types, constants, and the process itself.
const harmless = `Args DevNull DirEntry Environ ErrClosed ErrDeadlineExceeded ErrExist ErrInvalid ErrNotExist ErrPermission
ErrProcessDone Executable Exit Expand File FileInfo FileMode FindProcess Getegid Getenv Geteuid Getgid Getpid Getppid Getuid Getwd
Interrupt IsPathSeparator Kill LinkError LookupEnv NewFile PathError PathSeparator Pipe ProcAttr Process Root SameFile Signal
Stderr Stdin Stdout SyscallError TempDir UserHomeDir`

func TestRules_Files(t *testing.T) {
	used := map[string]map[string]bool{}
	for _, s := range sources(t) {
		// TestRules_Imports keeps the product from importing test support.
		if s.test || strings.HasPrefix(s.dir, "internal/testkit/") {
			continue
		}
		if slices.Contains(s.imports(), "os/exec") && s.dir != "internal/launch" && s.dir != "internal/netns" {
			t.Errorf("%s: imports os/exec; internal/launch starts programs, internal/netns our own binary", s.name)
		}
		for _, use := range fileUses(s) {
			if used[s.dir] == nil {
				used[s.dir] = map[string]bool{}
			}
			used[s.dir][use.name] = true
			if !slices.Contains(strings.Fields(openers[s.dir].names), use.name) {
				t.Errorf("%s: %s reaches a file by its path; tools go through their Runtime, others need a reason in openers (P1)", s.line(use.node), use.name)
			}
		}
	}
	for dir, o := range openers {
		for _, name := range strings.Fields(o.names) {
			if !used[dir][name] {
				t.Errorf("openers: %s no longer uses %s: take it out", dir, name)
			}
		}
	}
}

// TestRules_FilesSees holds that the rule above finds what it forbids, however it is
// written.
func TestRules_FilesSees(t *testing.T) {
	const text = `package p
import ( "os"; disk "os"; "path/filepath"; "syscall"; "golang.org/x/sys/unix" )
var read = os.ReadFile
func f() { disk.Open("a"); filepath.WalkDir("a", nil); syscall.Open("a", 0, 0); unix.Openat2(0, "a", nil); os.Getenv("a"); filepath.Join("a") }
`
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, use := range fileUses(source{name: "p.go", file: file, text: []byte(text)}) {
		got = append(got, use.name)
	}
	want := []string{"os.ReadFile", "os.Open", "filepath.WalkDir", "syscall.Open", "unix.Openat2"}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

type fileUse struct {
	name string
	node ast.Node
}

// fileUses finds the functions of a file that reach the disk by path, whatever name
// the package was imported under.
func fileUses(s source) []fileUse {
	packages := map[string]string{}
	for _, spec := range s.file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			panic(err) // the parser took it
		}
		name := path.Base(imported)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		packages[name] = imported
	}
	var uses []fileUse
	each(s, func(sel *ast.SelectorExpr, pkg string) {
		name := sel.Sel.Name
		switch imported := packages[pkg]; {
		case imported == "os" && !slices.Contains(strings.Fields(harmless), name) && !strings.HasPrefix(name, "O_") && !strings.HasPrefix(name, "Mode"):
			uses = append(uses, fileUse{"os." + name, sel})
		case imported == "path/filepath" && slices.Contains([]string{"Walk", "WalkDir", "Glob", "EvalSymlinks", "Abs"}, name):
			uses = append(uses, fileUse{"filepath." + name, sel})
		case imported == "syscall" || strings.HasPrefix(imported, "golang.org/x/sys/"):
			if slices.Contains(strings.Fields(systemOpeners), name) {
				uses = append(uses, fileUse{path.Base(imported) + "." + name, sel})
			}
		}
	})
	return uses
}

// systemOpeners are the calls of syscall, x/sys/unix and x/sys/windows that take a path.
const systemOpeners = `Access Chdir Chflags Chmod Chown Chroot Creat CreateDirectory CreateFile CreateHardLink
CreateSymbolicLink DeleteFile Faccessat Faccessat2 Fchdir Fchmodat Fchownat FindFirstFile Fstatat Futimesat
GetFileAttributes GetFileAttributesEx GetLongPathName Getxattr Lchown Lgetxattr Link Linkat Listxattr Llistxattr
Lremovexattr Lsetxattr Lstat Mkdir Mkdirat Mkfifo Mkfifoat Mknod Mknodat Mount MoveFile MoveFileEx NameToHandleAt
Open Openat Openat2 OpenByHandleAt OpenTree PivotRoot Readlink Readlinkat RemoveDirectory Removexattr Rename
Renameat Renameat2 RenameatxNp Rmdir SetFileAttributes Setxattr Stat Statfs Statx Symlink Symlinkat Truncate
Unlink Unlinkat Utime Utimes UtimesNano UtimesNanoAt Utimensat`

// TestRules_Paths holds docs/paths.md to the tests: each of P1 to P9 has a row, and the
// tests that it names exist.
func TestRules_Paths(t *testing.T) {
	const name = "docs/paths.md"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	known := tests(t)
	rows := regexp.MustCompile(`(?m)^\| P(\d) \| [^|]+ \| ([^|]+) \|$`).FindAllSubmatch(text, -1)
	for i, row := range rows {
		if string(row[1]) != strconv.Itoa(i+1) {
			t.Errorf("%s: P%s stands where P%d should", name, row[1], i+1)
		}
		for guard := range strings.SplitSeq(string(row[2]), ", ") {
			if m := guardForm.FindStringSubmatch(guard); m == nil || !known[m[1]+" "+m[2]] {
				t.Errorf("%s: P%s: there is no test %s", name, row[1], guard)
			}
		}
	}
	if len(rows) != 9 {
		t.Errorf("%s: %d rows, want P1 to P9", name, len(rows))
	}
}
