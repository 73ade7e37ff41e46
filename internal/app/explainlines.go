package app

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxCallLine bounds one line of the input, in bytes. The longest command that is not
// denied for its length is far shorter.
const maxCallLine = 8 << 20

// answerLines answers each line of in with what answer gives, in order: a text as it is,
// nil not at all, anything else as a line of JSON. An error of answer is about its line and
// becomes one; blank lines are no calls. The error is one of out, or of reading.
func answerLines(in io.Reader, out io.Writer, answer func(line int, call judgedCall) (any, error)) error {
	lines, buffered := bufio.NewReaderSize(in, 64<<10), bufio.NewWriterSize(out, 64<<10)
	for n := 1; ; n++ {
		text, long, readErr := readLine(lines, maxCallLine)
		if len(bytes.TrimSpace(text)) > 0 || long {
			if err := printAnswer(buffered, answerLine(n, text, long, answer)); err != nil {
				return err
			}
		}
		if lines.Buffered() == 0 || readErr != nil { // a program that waits for the answer gets it
			if err := buffered.Flush(); err != nil {
				return err
			}
		}
		if errors.Is(readErr, io.EOF) {
			return nil
		}
		if readErr != nil {
			return readErr
		}
	}
}

// answerLine is the answer to one line, whatever it holds.
func answerLine(n int, text []byte, long bool, answer func(line int, call judgedCall) (any, error)) any {
	if long {
		return unusable(n, fmt.Errorf("the line is longer than %d MiB", maxCallLine>>20))
	}
	call, err := parseCall(text)
	if err != nil {
		return unusable(n, err)
	}
	result, err := answer(n, call)
	if err != nil {
		return unusable(n, err)
	}
	return result
}

func printAnswer(out io.Writer, answer any) error {
	switch answer := answer.(type) {
	case nil:
		return nil
	case string:
		_, err := io.WriteString(out, answer)
		return err
	default:
		return printLine(out, answer)
	}
}

func parseCall(text []byte) (judgedCall, error) {
	var call judgedCall
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&call); err != nil {
		return call, fmt.Errorf(`the line is not a call, such as {"tool":"bash","args":{"cmd":"ls"}}: %w`, err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return call, errors.New("the line holds more than one object")
	}
	return call, nil
}

// readLine reads a line to its end and keeps at most limit bytes of it; long says that there were
// more. Unlike textcut.Line it goes on after a long line, and takes a last line without a newline.
func readLine(r *bufio.Reader, limit int) (line []byte, long bool, err error) {
	for {
		piece, err := r.ReadSlice('\n')
		if room := limit - len(line); len(piece) > room {
			piece, long = piece[:max(room, 0)], true
		}
		line = append(line, piece...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
	}
}
