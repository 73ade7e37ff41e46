package lsp

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Server says how a language server is started and what it is good for.
type Server struct {
	// Name is what people call it.
	Name string
	// Argv begins with the name of its program, which is looked for on the PATH.
	Argv []string
	// Languages maps extensions, in lower case and with their dot, to the
	// protocol's names of their languages.
	Languages map[string]string
	// Options are its initialization options; nil means none.
	Options any
	// Install says how to get it, in a few words; may be empty.
	Install string
}

// DefaultServers are the servers that are used when they are installed. Of
// several for one language the first that is found is taken.
func DefaultServers() []Server {
	python := map[string]string{".py": "python", ".pyi": "python"}
	return []Server{
		{
			Name: "gopls", Argv: []string{"gopls"}, Languages: map[string]string{".go": "go"},
			// Asked for, findings come at once and for one file.
			Options: map[string]any{"pullDiagnostics": true},
			Install: "go install golang.org/x/tools/gopls@latest",
		},
		{
			Name: "typescript-language-server", Argv: []string{"typescript-language-server", "--stdio"},
			Languages: map[string]string{
				".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "typescriptreact",
				".js": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".jsx": "javascriptreact",
			},
			Install: "npm install -g typescript-language-server typescript",
		},
		{Name: "pyright", Argv: []string{"pyright-langserver", "--stdio"}, Languages: python, Install: "npm install -g pyright"},
		{Name: "pylsp", Argv: []string{"pylsp"}, Languages: python, Install: "pip install python-lsp-server"},
		{
			Name: "rust-analyzer", Argv: []string{"rust-analyzer"}, Languages: map[string]string{".rs": "rust"},
			Install: "rustup component add rust-analyzer",
		},
		{
			Name: "clangd", Argv: []string{"clangd"},
			Languages: map[string]string{
				".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hh": "cpp", ".hpp": "cpp",
			},
		},
	}
}

// extension is a file's extension as Server.Languages has it.
func extension(path string) string { return strings.ToLower(filepath.Ext(path)) }

// MissingError reports that no language server for a file was found.
type MissingError struct {
	// Path is the file that was asked about.
	Path string
	// Servers are the servers that would do, the best one first; none is known for the
	// file's language when it is empty.
	Servers []Server
}

// Error names the servers and says how to get them.
func (e *MissingError) Error() string {
	if len(e.Servers) == 0 {
		return fmt.Sprintf("no language server is known for %s", filepath.Base(e.Path))
	}
	var names []string
	for _, s := range e.Servers {
		name := s.Name
		if s.Install != "" {
			name += " (" + s.Install + ")"
		}
		names = append(names, name)
	}
	return fmt.Sprintf("no language server for %s files is installed; install %s", extension(e.Path), strings.Join(names, ", or "))
}

// choose returns the first server for a file whose program is found.
func choose(servers []Server, path string, look func(string) bool) (Server, error) {
	candidates := slices.DeleteFunc(slices.Clone(servers), func(s Server) bool {
		return s.Languages[extension(path)] == "" || len(s.Argv) == 0
	})
	for _, s := range candidates {
		if look(s.Argv[0]) {
			return s, nil
		}
	}
	return Server{}, &MissingError{Path: path, Servers: candidates}
}
