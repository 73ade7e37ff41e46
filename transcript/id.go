package transcript

import (
	"crypto/rand"
	"fmt"
	"sync"
	"time"
)

// IDs makes the ids of sessions, messages, parts and calls. An id is a prefix
// and 26 characters: 12 hexadecimal digits of ms*64 + counter, so that ids sort
// in the order they were made (R136; the seed's ms*4096 does not fit 48 bits),
// then 14 random ones. When the clock goes back, ids count on from the last.
// The zero value is ready; it is safe for concurrent use.
type IDs struct {
	// Known, unless nil, chooses each id. It gets the prefix and a function that makes a fresh id; a
	// replay returns the recorded id instead. It is set before the first use.
	Known func(prefix string, fresh func() string) string

	mu   sync.Mutex // guards last
	last uint64     // the stamp of the last id
}

// The prefixes of ids.
const (
	SessionPrefix = "ses_"
	MessagePrefix = "msg_"
	PartPrefix    = "prt_"
	CallPrefix    = "call_"
	TurnPrefix    = "trn_"
)

const alphabet = "0123456789abcdefghijklmnopqrstuvwxyz"

// New returns a fresh id with the prefix.
func (g *IDs) New(prefix string) string {
	if g.Known != nil {
		return g.Known(prefix, func() string { return g.at(prefix, time.Now()) })
	}
	return g.at(prefix, time.Now())
}

func (g *IDs) at(prefix string, now time.Time) string {
	stamp := uint64(now.UnixMilli()) * 64
	g.mu.Lock()
	stamp = max(stamp, g.last+1)
	g.last = stamp
	g.mu.Unlock()

	var tail [14]byte
	rand.Read(tail[:]) // never fails: crypto/rand aborts the process instead
	for i, b := range tail {
		tail[i] = alphabet[int(b)%len(alphabet)]
	}
	return fmt.Sprintf("%s%012x%s", prefix, stamp&(1<<48-1), tail)
}
