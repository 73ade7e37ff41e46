// Package termpicture draws what a program wrote to a terminal as a moving picture: an SVG
// that needs no script and no font of its own.
//
// It owns the drawing: one line of text after the other enters at the bottom, and a viewer that
// does not animate shows one moment. It knows the eight colours and bold and dim of SGR, and no
// other control sequence. It is for tests and for the picture in the README, imports the
// standard library and starts no goroutines.
//
//	svg := termpicture.Draw(output, termpicture.Options{Title: "acp-agent demo", Still: "May I"})
//
// # Requirements
//
// None of its own.
package termpicture
