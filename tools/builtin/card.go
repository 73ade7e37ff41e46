package builtin

import (
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"acp-agent/kinds"
	"acp-agent/tools"
)

// cardBytes bounds the text that a finished card shows; with what stands around it, the
// card stays below 64 KiB.
const cardBytes = 60 << 10

// textCard shows a text as it is.
func textCard(text string) []kinds.Content {
	return []kinds.Content{kinds.Text{Text: kinds.Fence("", clip(text, cardBytes))}}
}

// sentenceCard shows a sentence of ours.
func sentenceCard(sentence string) []kinds.Content {
	return []kinds.Content{kinds.Text{Text: sentence}}
}

// pathRunes bounds a path in a sentence of a card.
const pathRunes = 500

// inCard is a path in a sentence of a card: Markdown in a name that a repository chose,
// such as a picture from elsewhere, is not read (O3).
func inCard(path string) string { return kinds.Code(path, pathRunes) }

// fromHere are lines that begin with a path, written as seen from the session's directory.
func fromHere(rt tools.Runtime, lines []string) []string {
	here := strings.TrimSuffix(rt.Session().Cwd, string(filepath.Separator)) + string(filepath.Separator)
	short := make([]string, len(lines))
	for i, line := range lines {
		short[i] = strings.TrimPrefix(line, here)
	}
	return short
}

// notedCard shows a text, and below it what the notes for the model state. A note is
// "[fact; what the model can do]", and only the fact is for the user.
func notedCard(text string, notes ...string) []kinds.Content {
	var parts []string
	if text != "" {
		parts = append(parts, kinds.Fence("", clip(text, cardBytes)))
	}
	for _, note := range notes {
		fact, _, _ := strings.Cut(strings.Trim(note, "[]."), "; ")
		if first, size := utf8.DecodeRuneInString(fact); size > 0 {
			parts = append(parts, string(unicode.ToUpper(first))+fact[size:]+".")
		}
	}
	return sentenceCard(strings.Join(parts, "\n\n"))
}
