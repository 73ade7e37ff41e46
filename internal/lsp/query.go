package lsp

// The operations of a Query.
const (
	Definitions = "definitions"
	References  = "references"
	Diagnostics = "diagnostics"
)

// Query is one question about a file.
type Query struct {
	// Operation is one of the constants.
	Operation string
	// Path is absolute.
	Path string
	// Line and Column are 1-based; Column counts characters. Diagnostics needs
	// neither.
	Line, Column int
	// Text is the file as the user sees it.
	Text string
}

// Answer is what a server knows.
type Answer struct {
	// Server is the Name of the one that answered.
	Server      string
	Locations   []Location
	Diagnostics []Diagnostic
}

// Location is a place in a file, counted as in Query. In a file outside the
// roots the column is what the server said, which may count otherwise.
type Location struct {
	// Path is absolute.
	Path         string
	Line, Column int
}

// Diagnostic is one finding about the file that was asked about.
type Diagnostic struct {
	Path         string
	Line, Column int
	// Severity is "error", "warning", "information" or "hint".
	Severity string
	Message  string
	// Source is who found it, such as "compiler", and Code how they call it; both
	// may be empty.
	Source, Code string
}
