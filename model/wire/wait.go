package wire

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// longestWait bounds what a server may ask for: what is longer counts as a day.
const longestWait = 24 * time.Hour

// wait is how long the server asks to wait before the next request: in a header, in a
// field of the error, or in its words. 0 means that it does not say.
func wait(header http.Header, d *Detail, now time.Time) time.Duration {
	if asked := retryAfter(header, now); asked > 0 {
		return asked
	}
	if d.wait > 0 {
		return d.wait
	}
	return saidWait(d.Message)
}

// retryAfter reads the headers by which a server asks for a wait: milliseconds, seconds or
// a date.
func retryAfter(header http.Header, now time.Time) time.Duration {
	if d, ok := scaled(header.Get("Retry-After-Ms"), time.Millisecond); ok {
		return d
	}
	text := header.Get("Retry-After")
	if d, ok := scaled(text, time.Second); ok {
		return d
	}
	if at, err := http.ParseTime(text); err == nil {
		return bounded(at.Sub(now))
	}
	return 0
}

// scaled is a number of units as a time.
func scaled(text string, unit time.Duration) (time.Duration, bool) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n >= 0) {
		return 0, false
	}
	return time.Duration(min(n*float64(unit), float64(longestWait))), true
}

func bounded(d time.Duration) time.Duration { return min(max(d, 0), longestWait) }

// fieldWait is the wait in the fields of an error object: details of Google's kind
// ({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "47s"}), or a number
// of seconds.
func fieldWait(object map[string]json.RawMessage) time.Duration {
	var details []struct{ RetryDelay string }
	_ = json.Unmarshal(object["details"], &details)
	for _, detail := range details {
		if d, err := time.ParseDuration(detail.RetryDelay); err == nil && d > 0 {
			return bounded(d)
		}
	}
	for _, name := range []string{"resets_in_seconds", "estimated_time"} {
		if d, ok := scaled(Loose(object[name]), time.Second); ok {
			return d
		}
	}
	return 0
}

// askedInWords finds "try again in 9m38.016s", "Please retry after 20 seconds" and the like.
var askedInWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:try again|retry) (?:in|after) ((?:\d+(?:\.\d+)?(?:ms|[hms]))+\b|(\d+(?:\.\d+)?) (second|minute|hour)s?\b)`)
})

// saidWait is the wait that the server asks for in words.
func saidWait(message string) time.Duration {
	m := askedInWords().FindStringSubmatch(message)
	if m == nil {
		return 0
	}
	if m[2] == "" {
		d, _ := time.ParseDuration(strings.ToLower(m[1]))
		return bounded(d)
	}
	units := map[string]time.Duration{"second": time.Second, "minute": time.Minute, "hour": time.Hour}
	d, _ := scaled(m[2], units[strings.ToLower(m[3])])
	return d
}
