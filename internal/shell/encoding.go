package shell

import "strings"

// Encoding is the encoding of characters in which the shell will read a text.
type Encoding uint8

// The encodings. The zero value is the one of which nothing is known.
const (
	// AnyEncoding may be one in which the last byte of a character looks like a mark: the second byte of
	// some characters of Shift JIS and GBK is a backslash.
	AnyEncoding Encoding = iota
	// UTF8 is an encoding in which a backslash byte is always a backslash. The C locale, in which every byte is a character, counts as UTF8.
	UTF8
)

// EncodingOf returns the encoding in which a shell reads a text that has these variables, as "NAME=value",
// in its environment.
func EncodingOf(environ []string) Encoding {
	values := map[string]string{}
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		values[name] = value
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := values[name]; locale != "" {
			return encodingOf(locale)
		}
	}
	return UTF8
}

// encodingOf returns the encoding of a locale, by its name: language_COUNTRY.ENCODING@variant, or the
// encoding alone, as on macOS.
func encodingOf(locale string) Encoding {
	locale, _, _ = strings.Cut(locale, "@")
	if _, encoding, named := strings.Cut(locale, "."); named {
		locale = encoding
	}
	switch strings.ToLower(locale) {
	case "c", "posix", "utf-8", "utf8":
		return UTF8
	}
	return AnyEncoding
}
