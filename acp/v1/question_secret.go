package v1

import (
	"regexp"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"acp-agent/kinds"
	"acp-agent/tools"
)

// secretNotice stands below every field that takes any text: whatever the
// question says, the answer must not hold a secret (R77).
const secretNotice = "Do not enter passwords or keys: answers go to the model."

// secretAsked returns the first question that asks the user to write a secret
// down, "" when none does. Answers of forms end up in the transcript and with
// the model, so secrets must not be asked for there (R77). A choice among
// labels of the model cannot hold one.
//
// It matches the plain wordings of a question that is not meant to deceive. It does
// not try to be complete: secretNotice is there for the others.
func secretAsked(questions []tools.Question) string {
	for _, question := range questions {
		text := plainWords(question.Header) + "\n" + plainWords(question.Question)
		if len(question.Options) == 0 && wordings().MatchString(text) {
			return question.Question
		}
	}
	return ""
}

// plainWords is at least as much of a text as a form shows, in lower case, with blanks
// for the hyphens and underscores of names.
func plainWords(text string) string {
	runes := []rune(strings.TrimSpace(text))
	return strings.Map(func(r rune) rune {
		switch {
		case r == '-' || r == '_' || r == '`' || r == '"':
			return ' '
		case unicode.Is(unicode.Cf, r):
			return -1 // not seen between letters
		}
		return unicode.ToLower(r)
	}, norm.NFKC.String(string(runes[:min(len(runes), proseRunes)])))
}

// The parts of a wording, in plainWords.
const (
	// strongNames are of secrets alone; weakNames, such as the tokens of a parser, also mean
	// other things.
	strongNames = `pass ?(?:word|phrase|code)s?|passwd|pwd|(?:seed|recovery) phrase|client secrets?|connection string|card number|` +
		`(?:api|access|secret|private|encryption|ssh|signing|license|master|recovery) ?keys?|(?:access|api|auth|github|npm) tokens?|` +
		`(?:one time|2fa|mfa|verification|security|recovery|backup) codes?|git(?:hub|lab) pat|` +
		`passwort|kennwort|zugangsdaten|mot de passe|contraseña|senha|wachtwoord|hasło|пароль`
	weakNames = `credentials?|tokens?|\bsecrets?|\bpin|\botp|\blogin(?: details)?|` +
		`(?:\.env(?:\.local)?|\.npmrc|\.netrc|id (?:rsa|ed25519)|\w*\.pem|\.(?:aws|ssh)/\w+)(?: file)?`
	anyName = `(?:` + strongNames + `|` + weakNames + `)`
	demands = `\b(?:enter|paste|provide|give|send|share|type|supply|tell|submit|insert|write|need|show|gib|inserisci|podaj|wie lautet|quel est|cuál es|qual é)\b`
	owners  = `\b(?:your|dein|deine|ihr|votre|tu|sua|je)\b`
	// directly is the few words between a demand and the name of what is demanded. A demand
	// for something else about the secret ("give the length of the password") has more.
	directly = ` (?:(?:the|a|an|your|my|me|us|its|openai|full|new|current|old|admin|root) ){0,3}`
	near     = `[^.?!\n]{0,40}` // within a sentence
	// ends is what follows a name that is itself asked for, unlike one whose length or place is.
	ends = `(?: here| now| please)*(?:\s*(?:[.?!,;:()\n]|$)| (?:for|of|to|from)\b)`
)

// wordings matches a demand for a secret ("enter the", "what is the"), a secret of the
// user's, and a text that begins with the name of one and says no more.
var wordings = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)` + demands + directly + `(?:` + strongNames + `)\b` +
		`|\bwhat (?:` + strongNames + `) (?:do|does|did|should|shall|can|is|are)\b|\bwhat(?:['’]?s| is) (?:the |your )?cvv\b` +
		`|(?:` + demands + near + `|` + owners + near + `|\bwhat(?:['’]?s| is| are) (?:\S+ ){0,2}\S*)` + anyName + ends +
		`|\bwhat (?:value )?does (?:\S+ ){0,2}\S*` + anyName + ` (?:contain|have)\b` +
		`|^(?:\S+ ){0,2}\S*(?:(?:` + strongNames + `)\s*(?:[?:.,]|$)|(?:` + weakNames + `)\?)` +
		`|\bwhich ` + anyName + ` (?:should|do|can)\b`)
})

func secretRefused(question string) error {
	return &tools.Error{
		Kind: tools.BadInput, Code: "asking-secret",
		Message: "question: a secret must not be asked for, since answers are kept and sent to the model: " + kinds.Line(question, titleRunes),
		Hint:    "Tell the user in chat to put it where the program reads it, such as an environment variable or a file that is not committed.",
	}
}
