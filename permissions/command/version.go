package command

import (
	"path"
)

// versionForms lists the exact words with which a program prints its version.
var versionForms = map[string]string{
	"go": "version", "node": "--version -v", "npm": "--version -v", "yarn": "--version -v", "pnpm": "--version -v",
	"python": "--version -V", "python3": "--version -V", "pip": "--version -V", "pip3": "--version -V",
	"ruby": "--version -v", "gem": "--version -v", "bundle": "--version -v", "perl": "--version -v", "php": "--version -v",
	"java": "--version -version", "javac": "--version -version", "rustc": "--version -V", "cargo": "--version -V",
	"rustup": "--version -V", "gcc": "--version", "g++": "--version", "cc": "--version", "clang": "--version",
	"make": "--version -v", "cmake": "--version", "dotnet": "--version", "swift": "--version", "deno": "--version -V",
	"bun": "--version -v", "tsc": "--version -v", "git": "--version version", "docker": "--version -v", "bash": "--version",
	"uv": "--version", "lua": "-v", "kotlin": "-version", "scala": "-version --version", "ghc": "--version", "elixir": "--version",
}

// version allows a program to print its version, in the exact forms of versionForms. All but a few
// programs may load code or settings that the project names, or be a shim that does. Those ask until
// the project is trusted (T2).
func (l *listing) version(s simple) (finding, bool) {
	if len(s.argv) != 2 {
		return finding{}, false
	}
	forms, ok := versionForms[s.name()]
	if !ok || !hasWord(forms, s.argv[1]) {
		return l.explains(s)
	}
	if l.env.Untrusted && !hasWord(unconfigured, s.name()) {
		return asks(Interpreter, s.name()+" may run code that this untrusted project names"), true
	}
	return allowed(), true
}

// unconfigured lists the programs that use nothing of a project when they print their version.
const unconfigured = "git bash cc gcc g++ clang cmake make perl php python python3 ruby lua node go"

// explains leaves --version and --help to a read-only sandbox, unless the program is the project's.
// Until the project is trusted, the program must also be one of the system that uses nothing of a
// project. A program that does not exist does nothing.
func (l *listing) explains(s simple) (finding, bool) {
	if !hasWord("--version --help", s.argv[1]) || readers[s.name()].free || hasWord("git test [ cd pushd popd", s.name()) {
		return finding{}, false
	}
	f := asks(Unlisted, s.words[0].String()+" is not on the list of commands that only read")
	_, reads := readers[s.name()]
	switch found, there := l.program(s); {
	case l.env.Program == nil, there && found == "":
	case !there, !l.env.Untrusted, (reads || hasWord(unconfigured, s.name())) && hasWord("/bin /usr/bin /usr/local/bin /opt/homebrew/bin", path.Dir(found)):
		f.notReadOnly = ""
	}
	return f, true
}

// program looks a program up on the PATH. found is empty for a program that lies in the project.
func (l *listing) program(s simple) (found string, there bool) {
	if l.env.Program == nil {
		return "", false
	}
	if found, there = l.env.Program(s.words[0].value); !there {
		return "", false
	}
	if _, inside := l.env.Inside(found); inside {
		return "", true
	}
	return found, true
}
