package command

import (
	"regexp"
	"strings"
	"sync"
)

// variableName matches the name of a variable.
var variableName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
})

// usedVariables and usedPrefixes are the variables, and the beginnings of their names, that the shell or programs use.
const (
	usedVariables = "AUTO_RESUME BLOCKSIZE BLOCK_SIZE BROWSER CC CDPATH CFLAGS CHILD_MAX CLASSPATH CLICOLOR CLICOLOR_FORCE " +
		"COLORTERM COLUMNS COPROC CXX DF_BLOCK_SIZE DIRSTACK DISPLAY DU_BLOCK_SIZE EDITOR EMACS ENV EPOCHREALTIME " +
		"EPOCHSECONDS EUID FCEDIT FIGNORE FORCE_COLOR GCONV_PATH GETCONF_DIR GLOBIGNORE GLOBSORT GROUPS HOME " +
		"HOSTALIASES HOSTFILE HOSTNAME HOSTTYPE IFS IGNOREEOF INPUTRC JQ_COLORS LANG LANGUAGE LDFLAGS LINENO LINES " +
		"LOCALDOMAIN LOCPATH LOGNAME LS_BLOCK_SIZE LS_COLORS MACHTYPE MAGIC MAIL MAILCHECK MAILPATH MALLOC_CHECK_ " +
		"MALLOC_TRACE MANPAGER MANPATH MAPFILE NLSPATH NO_COLOR OLDPWD OPENSSL_CONF OPTARG OPTERR OPTIND OSTYPE " +
		"PAGER PATH PKG_CONFIG_PATH PPID PWD QUOTING_STYLE RANDOM REPLY RES_OPTIONS SECONDS SHELL SHELLOPTS " +
		"SRANDOM TABSIZE TEMP TERM TERMINFO TIMEFORMAT TIME_STYLE TMOUT TMP TMPDIR TREE_COLORS UID USER VISUAL"
	usedPrefixes = "ALL_PROXY BASH COMP DYLD EXEC FTP FUNC FZF GIT GNU GO GREP HIST HTTP HTTPS LC_ LD_ LESS NODE " +
		"NO_PROXY NPM PERL POSIX PROMPT PS PYTHON RG RIPGREP RUBY SSH TZ XDG"
)

// ordinaryVariable reports a variable that only the text itself uses. A variable of the shell or of a
// program is not one: to set it changes what they do.
func ordinaryVariable(name string) bool {
	upper := strings.ToUpper(name)
	for _, prefix := range strings.Fields(usedPrefixes) {
		if strings.HasPrefix(upper, prefix) && name == upper {
			return false
		}
	}
	if name == upper && hasWord(usedVariables, name) {
		return false
	}
	return variableName().MatchString(name) && name != "_" && name != "histchars"
}

// localeName matches the names of locales, but none that is a path.
var localeName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(C|POSIX|C\.UTF-8|C\.utf8|en_US\.UTF-8|en_US\.utf8)$`)
})

// setting notes a variable of the environment that only says how output looks, or that forbids a
// program something. It reports false for any other one, and for a second value of the same one.
func (e *expander) setting(name, value string) bool {
	ok := false
	switch {
	case hasWord("LANG LC_ALL LC_COLLATE LC_CTYPE LC_NUMERIC LC_MESSAGES LC_TIME", name):
		ok = localeName().MatchString(value)
	case hasWord("NO_COLOR FORCE_COLOR CLICOLOR CI", name):
		ok = hasWord("0 1 true false", value)
	case name == "TERM":
		ok = hasWord("dumb xterm xterm-256color", value)
	case name == "COLUMNS" || name == "LINES":
		ok = threeDigits(value) && value != ""
	case name == "TZ":
		ok = value == "UTC" || value == "GMT"
	case name == "PAGER" || name == "GIT_PAGER":
		return value == "cat" || value == "" // as it is in any case, see GitEnv
	case name == "GIT_TERMINAL_PROMPT" || name == "GIT_OPTIONAL_LOCKS":
		return value == "0"
	}
	before, set := e.settings[name]
	if !ok || set && before != value {
		return false
	}
	e.settings[name] = value
	return true
}
