package command

import (
	"regexp"
	"strings"
	"sync"
)

// gitFormats asks about a format that may print more than what commits say.
func gitFormats(sub string, p parsed) finding {
	for _, option := range []string{"--format", "--pretty"} {
		if !plainFormat(sub, p.seen[option]) {
			return asks(Interpreter, "the format may print content or run a program that checks signatures")
		}
	}
	return finding{}
}

// plainFormat accepts the formats that print no content and run no program. A name that is not git's own may
// be one of the configuration (pretty.NAME), which may stand for any format.
func plainFormat(sub, formats string) bool {
	if listsRefs(sub) {
		return refFormat().MatchString(formats)
	}
	for format := range strings.SplitSeq(formats, "\n") {
		placeholders, given := strings.CutPrefix(strings.TrimPrefix(format, "t"), "format:")
		switch {
		case given && logFormat().MatchString(placeholders), strings.Contains(format, "%") && logFormat().MatchString(format):
		case !given && (format == "" || hasWord("oneline short medium full fuller reference email mboxrd raw", format)):
		default:
			return false
		}
	}
	return true
}

// refFormat accepts the fields that say where a ref points, and when it moved.
var refFormat = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([^%]|%%|%\((HEAD|refname|objectname|upstream|committerdate|creatordate|authordate|authorname|committername|subject)(:[a-z0-9=-]+)?\))*$`)
})

// logFormat accepts the formats in which every placeholder prints something that the commit itself says.
// It leaves out %G, also with a modifier (%+G?), which runs the program that checks signatures,
// %(describe), which runs git, and a padding of many columns.
var logFormat = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([^%]|%%|%n|%m|%S|%x[0-9a-fA-F]{2}|%C(red|green|blue|reset|\((auto,?)?[a-z0-9 #]*\))|%[-+ ]?(H|h|T|t|P|p|a[nNeElLdDrtiIsh]|c[nNeElLdDrtiIsh]|d|D|e|s|f|b|B|N|g[dDnNeEs]|\(trailers(:[A-Za-z0-9=,_-]*)?\))|%[<>]\([0-9]{1,3}(,[lmr]?trunc)?\)|%[<>]\|\([0-9]{1,3}\))*$`)
})
