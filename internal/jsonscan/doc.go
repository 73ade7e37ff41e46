// Package jsonscan finds and rewrites the strings of a JSON text without decoding the text.
//
// It owns the end of a string literal ([StringEnd], [StringEndIn]), the replacement of what a literal says
// ([ReplaceString]), literals of texts ([AppendString]), and the repair of literals with raw
// control characters ([EscapeControls]).
//
// Other readers of JSON have contracts that this one cannot meet, and stay where they are:
// acp/rpc checks a whole message in one pass and outlines one that is too long to be held;
// acp/schema, which knows no other package, cuts valid JSON into members and elements;
// transcript decodes the strings of events by itself, since it reads a great many of them;
// internal/strictread knows the line and column of each value.
//
// It does not know what a text is for. It imports the standard library and starts no
// goroutines.
//
//	end := jsonscan.StringEnd(text[pos:])
//	cleaned, changed := jsonscan.ReplaceString(text[pos:pos+end], redact)
//
// # Requirements
//
// R4 (arguments that are not quite JSON), R135 (texts that are stored), R144 (recordings).
package jsonscan
