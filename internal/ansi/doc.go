// Package ansi reads what a program wrote for a terminal: text with the colours and styles that
// its escape sequences (SGR) gave it.
//
// It owns the meaning of a terminal's control sequences in a text that is over: colours become
// one of sixteen, a carriage return writes over its line, a backspace over a character, and all
// other sequences have no effect. It refuses to know what draws the result. It imports the
// standard library and starts no goroutines. A text is read in linear time.
//
//	for _, span := range ansi.Spans("\x1b[31mFAIL\x1b[0m ok") {
//		draw(span.Style.Foreground, span.Text) // red "FAIL", then " ok"
//	}
//
// # Requirements
//
// R144 (how terminals stand in an export).
package ansi
