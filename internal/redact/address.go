package redact

import (
	"slices"
	"strings"
)

// addressSchemes are those of addresses that programs fetch and push by.
func addressSchemes() []string {
	return []string{"https://", "http://", "ssh://", "git://", "ftps://", "ftp://", "svn://"}
}

// maxUserinfo bounds what stands before the host of an address, in bytes.
const maxUserinfo = 4096

// endsAuthority are the characters that end the part of an address with user and host.
const endsAuthority = "/?# \t\r\n\"'<>`|\\"

// Addresses takes users and passwords out of the addresses of remotes in a text. What is
// plainly a variable or an example stays, and so do addresses of other kinds, for a text that
// people work on keeps its meaning.
func Addresses(text string) string {
	if !strings.Contains(text, "://") {
		return text
	}
	return masked(text, addressSecret)
}

// addressSecret finds the first user and password of an address.
func addressSecret(text string) (from, to int) {
	for at := 0; ; {
		i := strings.Index(text[at:], "://")
		if i < 0 {
			return -1, -1
		}
		at += i + len("://")
		if !slices.ContainsFunc(addressSchemes(), func(scheme string) bool { return hasSuffixFold(text[:at], scheme) }) {
			continue
		}
		authority := text[at:min(len(text), at+maxUserinfo)]
		if end := strings.IndexAny(authority, endsAuthority); end >= 0 {
			authority = authority[:end]
		}
		if end := strings.LastIndexByte(authority, '@'); end > 0 && secretUserinfo(authority[:end]) {
			return at, at + end
		}
	}
}

// secretUserinfo reports whether what stands before a host holds a password, or a token in
// the place of a user.
func secretUserinfo(userinfo string) bool {
	if userinfo == Mask || strings.ContainsAny(userinfo, "${}%()[]*") && !strings.Contains(userinfo, "%3") {
		return false // a variable, or the form of one
	}
	user, password, found := strings.Cut(userinfo, ":")
	if !found || password == "" {
		return Distinct(user) || Holds(user, nil)
	}
	return !slices.Contains([]string{"pass", "passwd", "password", "pw", "secret", "token", "x-oauth-basic", "xxx", "xxxx", "..."}, strings.ToLower(password)) ||
		Distinct(user)
}

func hasSuffixFold(text, suffix string) bool {
	return len(text) >= len(suffix) && strings.EqualFold(text[len(text)-len(suffix):], suffix)
}

// pendingAddress returns how many bytes at the end of a text may be the beginning of an
// address whose host is not there yet.
func pendingAddress(text string) int {
	tail := text[max(0, len(text)-maxUserinfo-len("https://")):]
	if i := strings.LastIndex(tail, "://"); i >= 0 {
		for _, scheme := range addressSchemes() {
			if from := i + len("://") - len(scheme); from >= 0 && strings.EqualFold(tail[from:i+len("://")], scheme) {
				if !strings.ContainsAny(tail[i+len("://"):], endsAuthority) {
					return len(tail) - from
				}
				break
			}
		}
	}
	most := 0
	for _, scheme := range addressSchemes() {
		for n := min(len(scheme)-1, len(tail)); n > most; n-- {
			if hasSuffixFold(tail, scheme[:n]) {
				most = n
			}
		}
	}
	return most
}
