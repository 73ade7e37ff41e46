package rpc

import (
	"encoding/json"
	"strconv"
	"strings"
)

// ID is the id of a request as the peer wrote it: raw JSON text, a string, a
// number or null. It is echoed byte for byte, since a number such as 1.5 or 2^64-1
// does not survive a round trip through a Go integer or float (R145).
type ID string

// nullID is the id of answers to lines whose own id cannot be read.
const nullID ID = "null"

// maxIDBytes bounds an id, which is kept while its request runs and is echoed.
const maxIDBytes = 4 << 10

// parseID accepts the raw JSON value of an id member.
func parseID(raw []byte) (ID, bool) {
	if len(raw) == 0 || len(raw) > maxIDBytes {
		return nullID, false
	}
	switch c := raw[0]; {
	case c == '"', c == '-', '0' <= c && c <= '9', string(raw) == "null":
		return ID(raw), true
	default:
		return nullID, false
	}
}

// key returns a string that is equal for ids that are equal as JSON values:
// `"a"` and `"\u0061"` are one id, and so are 1, 1.0 and 10e-1.
func (id ID) key() string {
	if strings.HasPrefix(string(id), `"`) {
		var s string
		if json.Unmarshal([]byte(id), &s) == nil {
			return "s" + s
		}
		return "r" + string(id)
	}
	return "n" + canonicalNumber(string(id))
}

// number is the id as jsonrpc2 numbers our calls, however the peer writes the number.
func (id ID) number() (uint64, bool) {
	f, err := strconv.ParseFloat(string(id), 64)
	n := uint64(max(f, 0))
	return n, err == nil && f < 1<<53 && float64(n) == f
}

// canonicalNumber writes a JSON number as digits without outer zeros and a power
// of ten. It works on the text, so that a huge exponent costs nothing.
func canonicalNumber(s string) string {
	if isPlainInteger(s) {
		// The common case, in the form the general one would give for it.
		trimmed := strings.TrimRight(s, "0")
		if trimmed == "" || trimmed == "-" {
			return "0"
		}
		return trimmed + "e" + strconv.Itoa(len(s)-len(trimmed))
	}
	mantissa, exponent := s, int64(0)
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		n, err := strconv.ParseInt(s[i+1:], 10, 32)
		if err != nil {
			return s // beyond any real id: equal only to itself
		}
		mantissa, exponent = s[:i], n
	}
	sign := ""
	if strings.HasPrefix(mantissa, "-") {
		sign, mantissa = "-", mantissa[1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	exponent -= int64(len(fraction))
	digits := strings.TrimLeft(whole+fraction, "0")
	trimmed := strings.TrimRight(digits, "0")
	if trimmed == "" {
		return "0"
	}
	exponent += int64(len(digits) - len(trimmed))
	return sign + trimmed + "e" + strconv.FormatInt(exponent, 10)
}

func isPlainInteger(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c != '-' || i > 0) {
			return false
		}
	}
	return true
}
