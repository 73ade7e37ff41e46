package redact

import "strings"

// keyForm is the shape of a well-known kind of key: a prefix and the least
// number of key characters that follow it.
type keyForm struct {
	prefix string
	least  int
	extra  string // allowed besides letters and digits
}

func keyForms() []keyForm {
	return []keyForm{
		{"sk-", 16, "-_"},        // OpenAI, Anthropic, OpenRouter, DeepSeek
		{"sk_live_", 16, ""},     // Stripe
		{"sk_test_", 16, ""},     //
		{"rk_live_", 16, ""},     //
		{"ghp_", 30, ""},         // GitHub
		{"gho_", 30, ""},         //
		{"ghu_", 30, ""},         //
		{"ghs_", 30, ""},         //
		{"ghr_", 30, ""},         //
		{"github_pat_", 20, "_"}, //
		{"glpat-", 16, "-_"},     // GitLab
		{"AKIA", 16, ""},         // Amazon
		{"ASIA", 16, ""},         //
		{"AIza", 30, "-_"},       // Google
		{"ya29.", 20, "-_"},      //
		{"xoxa-", 10, "-"},       // Slack
		{"xoxb-", 10, "-"},       //
		{"xoxp-", 10, "-"},       //
		{"xoxr-", 10, "-"},       //
		{"xoxs-", 10, "-"},       //
		{"hf_", 30, ""},          // Hugging Face
		{"gsk_", 30, ""},         // Groq
		{"xai-", 30, ""},         // xAI
		{"pplx-", 30, ""},        // Perplexity
		{"nvapi-", 30, "-_"},     // NVIDIA
		{"r8_", 30, ""},          // Replicate
		{"npm_", 30, ""},         // npm
		{"pypi-", 40, "-_"},      // PyPI
		{"dop_v1_", 40, ""},      // DigitalOcean
		{"SG.", 40, "-_."},       // SendGrid
		{"AGE-SECRET-KEY-1", 40, ""},
	}
}

// Least is the length, in bytes, from which a configured value is looked for
// inside longer text: a shorter one, such as the dummy key of a local server,
// would blank out ordinary words.
const Least = 8

// Holds reports whether a value holds one of the secrets or something of a known
// form: a provider's key, a private key, a signed web token, or a URL with a
// password. A secret shorter than Least must be the whole value.
func Holds(value string, secrets []string) bool {
	if Contains(value, secrets) {
		return true
	}
	for f := range knownForms().in(value) {
		if from, _ := f.find(value); from >= 0 {
			return true
		}
	}
	if from, _ := webToken(value); from >= 0 {
		return true
	}
	from, _ := userinfo(value, false)
	return from >= 0 || strings.Contains(value, "PRIVATE KEY-----")
}

// Contains reports whether a value holds one of the secrets, as for [Holds].
func Contains(value string, secrets []string) bool {
	for _, s := range secrets {
		if s != "" && (value == s || len(s) >= Least && strings.Contains(value, s)) {
			return true
		}
	}
	return false
}

// find returns where the first thing of the form is, or -1. It looks where a word
// begins, so that the "sk-" of "task-" is none.
func (f keyForm) find(value string) (from, to int) {
	for at := 0; ; {
		i := strings.Index(value[at:], f.prefix)
		if i < 0 {
			return -1, -1
		}
		from, to = at+i, at+i+len(f.prefix)
		if n := span(value[to:], f.extra); n >= f.least && (from == 0 || !keyChar(value[from-1], "_")) {
			return from, to + n
		}
		at = to
	}
}

// webToken finds three base64 parts with dots between, of which the first is a
// JSON object.
func webToken(value string) (from, to int) {
	const least = 10
	for at := 0; ; {
		i := strings.Index(value[at:], "eyJ")
		if i < 0 {
			return -1, -1
		}
		from = at + i
		end, parts := from, 0
		for n := span(value[end:], "-_"); n >= least; n = span(value[end:], "-_") {
			end += n
			if parts++; parts == 3 {
				return from, end
			}
			if !strings.HasPrefix(value[end:], ".") {
				break
			}
			end++
		}
		at = from + len("eyJ")
	}
}

// userinfo finds the user and password of scheme://user:password@host, and with
// alone also what an address of the web has before its host in place of both, which
// is often a token.
func userinfo(value string, alone bool) (from, to int) {
	for at := 0; ; {
		i := strings.Index(value[at:], "://")
		if i < 0 {
			return -1, -1
		}
		from = at + i + len("://")
		authority := value[from:]
		if end := strings.IndexAny(authority, "/?# \t\r\n\"'<>"); end >= 0 {
			authority = authority[:end]
		}
		if end := strings.LastIndexByte(authority, '@'); end > 0 {
			_, password, _ := strings.Cut(authority[:end], ":")
			if password != "" || alone && strings.HasSuffix(strings.TrimSuffix(strings.ToLower(value[:from-len("://")]), "s"), "http") {
				return from, from + end
			}
		}
		at = from
	}
}

// span counts the key characters at the start of s.
func span(s, extra string) int {
	n := 0
	for n < len(s) && keyChar(s[n], extra) {
		n++
	}
	return n
}

func keyChar(c byte, extra string) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || strings.IndexByte(extra, c) >= 0
}

// begins reports whether a text ends within a word that may become a key of a known form.
func begins(text string) bool {
	word := text[strings.LastIndexAny(text, " \t\n\r\"'`=:(<>,;")+1:]
	for _, f := range keyForms() {
		if word != "" && (strings.HasPrefix(word, f.prefix) || strings.HasPrefix(f.prefix, word)) {
			return true
		}
	}
	return false
}
