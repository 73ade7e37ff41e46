package v1

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"acp-agent/kinds"
	"acp-agent/tools"
)

// secretNames finds names of secrets and the word behind each: names that are
// plain by themselves, and those that also mean other things in programs, such
// as the tokens of a parser, where the person's own are asked for.
var secretNames = sync.OnceValue(func() *regexp.Regexp {
	const (
		plain = `pass(?:word|phrase|code|wd)s?|(?:api|access|secret|private|encryption|ssh|signing|license)[ _-]?keys?|` +
			`(?:access|api|auth|bearer|refresh|github|oauth)[ _-]?tokens?|(?:one[- ]time|2fa|mfa|otp|verification)[ _-]?codes?|otp|` +
			`seed phrase|(?:credit|debit) card(?: number)?|cvv|cvc`
		own = `(?:your|enter|paste|provide|give|send|share|type|supply|tell)(?:\W+\w+){0,3}?\W+(?:tokens?|secrets?|credentials?|keys?|pin)`
	)
	return regexp.MustCompile(`(?i)\b(?:` + plain + `|` + own + `)\b(?:\W+(\w+))?`)
})

// aboutSecrets are words behind such a name that make it a question about
// secrets, not for one.
func aboutSecrets() []string {
	return []string{
		"hash", "hashes", "hashing", "policy", "policies", "length", "expiry", "expiration", "lifetime", "limit", "limits", "budget",
		"count", "counts", "usage", "rotation", "rules", "storage", "store", "manager", "management", "field", "fields", "form",
		"format", "validation", "reset", "flow", "handling", "auth", "authentication", "type", "types", "column", "table", "name", "be",
	}
}

// secretAsked returns the first question that asks the person to write a secret
// down, "" when none does. Answers of forms end up in the transcript and with
// the model, so secrets must not be asked for there (R77). A choice among
// labels of the model cannot hold one.
func secretAsked(questions []tools.Question) string {
	for _, question := range questions {
		if len(question.Options) > 0 {
			continue
		}
		for _, found := range secretNames().FindAllStringSubmatch(question.Header+"\n"+question.Question, -1) {
			if !slices.Contains(aboutSecrets(), strings.ToLower(found[1])) {
				return question.Question
			}
		}
	}
	return ""
}

func secretRefused(question string) error {
	return &tools.Error{
		Kind: tools.BadInput, Code: "asking-secret",
		Message: "question: a secret must not be asked for, since answers are kept and sent to the model: " + kinds.Line(question, titleRunes),
		Hint:    "Tell the user in chat to put it where the program reads it, such as an environment variable or a file that is not committed.",
	}
}
