package launch

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

// leastSecret is the length from which a configured key is looked for inside
// longer values.
const leastSecret = 8

// holdsSecret reports whether a value holds one of the secrets or something of
// a known form: a provider's key, a private key, a signed web token, or a URL
// with a password.
func holdsSecret(value string, secrets []string) bool {
	for _, s := range secrets {
		if s != "" && (value == s || len(s) >= leastSecret && strings.Contains(value, s)) {
			return true
		}
	}
	for _, f := range keyForms() {
		if f.in(value) {
			return true
		}
	}
	return strings.Contains(value, "PRIVATE KEY-----") || holdsWebToken(value) || holdsURLPassword(value)
}

// in looks for the form where a word begins, so that the "sk-" of "task-" is none.
func (f keyForm) in(value string) bool {
	for rest, at := value, 0; ; {
		i := strings.Index(rest, f.prefix)
		if i < 0 {
			return false
		}
		at += i
		rest = rest[i+len(f.prefix):]
		if (at == 0 || !keyChar(value[at-1], "_")) && span(rest, f.extra) >= f.least {
			return true
		}
		at += len(f.prefix)
	}
}

// holdsWebToken looks for three base64 parts with dots between, of which the
// first is a JSON object.
func holdsWebToken(value string) bool {
	const least = 10
	for {
		i := strings.Index(value, "eyJ")
		if i < 0 {
			return false
		}
		value = value[i:]
		rest, parts := value, 0
		for n := span(rest, "-_"); n >= least; n = span(rest, "-_") {
			rest = rest[n:]
			if parts++; parts == 3 {
				return true
			}
			if !strings.HasPrefix(rest, ".") {
				break
			}
			rest = rest[1:]
		}
		value = value[len("eyJ"):]
	}
}

// holdsURLPassword looks for scheme://user:password@host.
func holdsURLPassword(value string) bool {
	for {
		_, rest, ok := strings.Cut(value, "://")
		if !ok {
			return false
		}
		authority, _, _ := strings.Cut(rest, "/")
		if at := strings.LastIndexByte(authority, '@'); at > 0 {
			if _, password, ok := strings.Cut(authority[:at], ":"); ok && password != "" {
				return true
			}
		}
		value = rest
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
