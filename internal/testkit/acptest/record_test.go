package acptest

import (
	"errors"
	"testing"
	"time"
)

// An agent that ends right behind a line is noticed at once: no line comes any more that would
// wake the one who waits.
func TestRecord_EndsBehindALine(t *testing.T) {
	r := newRecord()
	r.add(Line{Raw: "a request"})
	r.end()
	began := time.Now()
	_, _, err := r.wait(10*time.Second, 0, func(*Message) bool { return true })
	if err == nil || errors.Is(err, errGaveUp) {
		t.Errorf("after %s: %v", time.Since(began), err)
	}
}
