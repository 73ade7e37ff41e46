package workspace

import (
	"crypto/sha256"
	"strings"
)

const byteOrderMark = "\uFEFF"

type digest [sha256.Size]byte

// digestOf identifies a text as an editor may hold it: see neutral.
func digestOf(text string) digest { return sha256.Sum256([]byte(neutral(text))) }

// sameText reports whether a buffer and a file are the same text.
func sameText(a, b string) bool { return a == b || neutral(a) == neutral(b) }

// neutral takes out what editors change without being asked: they keep line
// ends and the byte order mark beside the buffer's text, and some add a
// newline at the end.
func neutral(text string) string {
	text = strings.TrimPrefix(text, byteOrderMark)
	if strings.Contains(text, "\r") {
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	return strings.TrimRight(text, "\n")
}

// asOnDisk gives a buffer's text the form of its file: where an editor took out
// the byte order mark or the carriage returns of a file that has them
// throughout, they are put back, so that they are neither shown as removed nor
// lost with the next write.
func asOnDisk(inBuffer, onDisk string) string {
	if crlfOnly(onDisk) && !strings.Contains(inBuffer, "\r") {
		inBuffer = strings.ReplaceAll(inBuffer, "\n", "\r\n")
	}
	if strings.HasPrefix(onDisk, byteOrderMark) && !strings.HasPrefix(inBuffer, byteOrderMark) {
		inBuffer = byteOrderMark + inBuffer
	}
	return inBuffer
}

func crlfOnly(text string) bool {
	pairs := strings.Count(text, "\r\n")
	return pairs > 0 && pairs == strings.Count(text, "\n") && pairs == strings.Count(text, "\r")
}
