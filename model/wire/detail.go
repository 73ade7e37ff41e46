package wire

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
	"unicode"
)

// maxMessage bounds the runes of a server's message that are shown.
const maxMessage = 600

// Detail is what a server says of an error. Its message is one clean line.
type Detail struct {
	Message string
	Code    string
	Kind    string // the member "type"
	Param   string

	wait  time.Duration // what a field of the error asks for
	daily bool          // a field says that the limit is that of a day
}

// Error returns the message.
func (d *Detail) Error() string { return d.Message }

// ParseDetail reads the shapes that servers use: {"error": {…}}, {"error": "…"},
// {"message": …}, {"detail": …}, a list of one of them, or plain text.
func ParseDetail(body []byte) *Detail {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(body, &object) != nil {
		return &Detail{Message: plain(body)}
	}
	if inner := object["error"]; len(inner) > 0 {
		var nested map[string]json.RawMessage
		if json.Unmarshal(inner, &nested) != nil {
			return &Detail{Message: Loose(inner), Code: Loose(object["code"]), wait: fieldWait(object)}
		}
		if len(nested) > 0 {
			object = nested
		}
	}
	d := &Detail{
		Message: Loose(object["message"]), Code: Loose(object["code"]),
		Kind: Loose(object["type"]), Param: Loose(object["param"]),
	}
	if d.Kind == "" {
		d.Kind = Loose(object["status"])
	}
	d.wait = fieldWait(object)
	// Google names the limit: "quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier".
	d.daily = strings.Contains(string(object["details"]), "PerDay")
	if d.Message == "" {
		d.Message = Loose(object["detail"])
	}
	// Anthropic names the limit that was reached in details
	// (platform.claude.com/docs/en/api/errors).
	var details struct {
		ErrorCode string `json:"error_code"`
	}
	if json.Unmarshal(object["details"], &details) == nil && d.Code == "" {
		d.Code = details.ErrorCode
	}
	// OpenRouter hides the words of the server behind it in metadata.
	var metadata struct{ Raw string }
	if json.Unmarshal(object["metadata"], &metadata) == nil && metadata.Raw != "" {
		d.Message += ": " + metadata.Raw
	}
	return d
}

// Loose is the text of a JSON value: of a string what it says, of null nothing,
// of anything else the JSON.
func Loose(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) == nil {
		return s
	}
	return string(value)
}

// plain is the text of a body that is not JSON. Of a web page the title tells
// enough.
func plain(body []byte) string {
	text := string(body)
	lower := strings.ToLower(text)
	if !strings.Contains(lower, "<html") && !strings.Contains(lower, "<!doctype") {
		return text
	}
	_, title, found := strings.Cut(lower, "<title>")
	title, _, closed := strings.Cut(title, "</title>")
	if !found || !closed {
		return "a web page"
	}
	return "a web page, titled " + strings.TrimSpace(title)
}

// Names reports whether the error is about the named parameter.
func (d *Detail) Names(param string) bool {
	if d.Param == param {
		return true
	}
	word := func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	for field := range strings.FieldsFuncSeq(d.Message, word) {
		if field == param {
			return true
		}
	}
	return false
}

// Label is the code, or the type when there is no code in words.
func (d *Detail) Label() string {
	if d.Code == "" || strings.Trim(d.Code, "0123456789") == "" {
		return strings.ToLower(d.Kind)
	}
	return strings.ToLower(d.Code)
}

// Contains reports whether the message has one of the parts, which are in lower case.
func (d *Detail) Contains(parts ...string) bool {
	message := strings.ToLower(d.Message)
	for _, part := range parts {
		if strings.Contains(message, part) {
			return true
		}
	}
	return false
}

// OutOfQuota reports whether there is nothing left to pay with, which no wait
// mends.
func (d *Detail) OutOfQuota() bool {
	switch d.Label() {
	case "insufficient_quota", "billing_hard_limit_reached", "insufficient_balance", "exceeded_current_quota_error", "billing_not_active",
		"billing_error", "enforced_spend_limit_reached":
		return true
	}
	// 1113 is GLM's: the account is in arrears, or has no package of this model's kind.
	return d.Code == "1113" ||
		d.Contains("insufficient balance", "insufficient credit", "insufficient_quota", "credit balance is too low", "api usage limits")
}

// usedUp reports whether an allowance is used up that is renewed at a time which the server
// does not say in seconds: that of a day, of five hours or of a plan. Some servers send a
// short wait along, which does not help.
func (d *Detail) usedUp() bool {
	switch d.Code {
	case "1304", "1308", "1309", "1310": // GLM's: calls of a day, of 5 hours; the plan ended; of a week
		return true
	}
	return d.daily || d.Contains("per-day", "limit: 0,", "session usage limit", "weekly usage limit") ||
		d.Contains("per day") && saidWait(d.Message) == 0
}

// unloadable reports whether a local server has no memory for the model, or cannot read it.
func (d *Detail) unloadable() bool {
	return d.Contains("requires more system memory", "error loading model", "unable to load model")
}

// Busy reports whether the server asks to come again later: it is overloaded, loads the
// model, or the rate of requests is at its limit. A status of 0 is none.
func (d *Detail) Busy(status int) bool {
	switch status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, statusOverloaded:
		return true
	case 0, http.StatusInternalServerError, http.StatusBadGateway:
		return d.Label() == "overloaded_error" || d.Label() == "rate_limit_error" || d.Contains("overloaded", "loading model",
			"currently loading", "model is loading", "server busy", "server is busy", "no slots available", "rate limit")
	}
	return false
}

// statusOverloaded is Anthropic's for a server that is overloaded.
const statusOverloaded = 529
