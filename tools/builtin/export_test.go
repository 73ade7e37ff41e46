package builtin

// The limits that prompt texts quote.
const (
	DefaultLines  = defaultLines
	MaxLines      = maxLines
	MaxLineBytes  = maxLineBytes
	MaxEntries    = maxEntries
	MaxImageBytes = maxImageBytes
	GrepPerFile   = grepPerFile
	GrepLine      = grepLine
)

// CleanOutput is exported for its fuzz target.
func CleanOutput(raw string) string { return cleanOutput(raw) }
