package main

import (
	"go/scanner"
	"go/token"
	"strings"
)

// countLines tells the lines of a file apart: lines with code, lines with a
// comment and nothing else, and the rest.
func countLines(text []byte) lines {
	fset := token.NewFileSet()
	file := fset.AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, scanner.ScanComments)
	code, comments := map[int]bool{}, map[int]bool{}
	for {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			break
		}
		if tok == token.SEMICOLON && literal == "\n" {
			continue // the scanner made it up
		}
		marked := code
		if tok == token.COMMENT {
			marked = comments
		}
		first := file.Line(pos)
		for n := range 1 + strings.Count(literal, "\n") {
			marked[first+n] = true
		}
	}
	l := lines{files: 1, code: len(code)}
	for n := range comments {
		if !code[n] {
			l.comments++
		}
	}
	l.blank = strings.Count(string(text), "\n") - l.code - l.comments
	return l
}
