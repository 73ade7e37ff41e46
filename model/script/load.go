package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
)

// maxScript bounds a script's size in bytes.
const maxScript = 16 << 20

// Script is a loaded file. It does not change and is safe for concurrent use.
type Script struct {
	name   string
	main   *scene
	scenes []*scene
}

// Load reads a script of at most 16 MiB. The name stands for it in errors,
// which also tell the line (R163).
func Load(name string, r io.Reader) (*Script, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxScript+1))
	if err != nil {
		return nil, fmt.Errorf("read script %s: %w", name, err)
	}
	if len(text) > maxScript {
		return nil, fmt.Errorf("script %s: larger than %d bytes", name, maxScript)
	}
	blankComments(text)

	s := &Script{name: name, main: &scene{}}
	scene := s.main
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	for {
		st := &step{line: lineOf(text, dec.InputOffset())}
		err := dec.Decode(st)
		if errors.Is(err, io.EOF) {
			return s, nil
		}
		if err == nil {
			err = st.check()
		}
		if err == nil && st.opensScene() {
			scene, err = newScene(st)
			s.scenes = append(s.scenes, scene)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, failedLine(text, st.line, err), err)
		}
		scene.steps = append(scene.steps, st)
	}
}

func newScene(st *step) (*scene, error) {
	s := &scene{}
	for _, cond := range []struct {
		pattern string
		into    **regexp.Regexp
	}{{st.When, &s.when}, {st.System, &s.system}} {
		if cond.pattern == "" {
			continue
		}
		re, err := regexp.Compile(cond.pattern)
		if err != nil {
			return nil, err
		}
		*cond.into = re
	}
	return s, nil
}

// blankComments overwrites comment lines with spaces, which keeps the offsets.
// No line within a JSON string can begin with #: a string cannot hold a raw
// newline.
func blankComments(text []byte) {
	for len(text) > 0 {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		if bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte("#")) {
			for i := range line {
				line[i] = ' '
			}
		}
		text = rest
	}
}

// lineOf is the line of the first byte that is not space from offset on.
func lineOf(text []byte, offset int64) int {
	head := text[:offset]
	space := len(text[offset:]) - len(bytes.TrimLeft(text[offset:], " \t\r\n"))
	return 1 + bytes.Count(head, []byte("\n")) + bytes.Count(text[offset:int(offset)+space], []byte("\n"))
}

// failedLine is the line of a syntax error, or else of the step.
func failedLine(text []byte, line int, err error) int {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) && syntax.Offset > 0 && syntax.Offset <= int64(len(text)) {
		return 1 + bytes.Count(text[:syntax.Offset-1], []byte("\n"))
	}
	return line
}
