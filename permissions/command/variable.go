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

// ordinaryVariable reports a variable that only the text itself uses. A variable of the shell or of a
// program is not one: to set it changes what they do.
func ordinaryVariable(name string) bool {
	upper := strings.ToUpper(name)
	for _, prefix := range []string{"BASH", "LD_", "GIT", "LC_", "LESS", "GREP", "RIPGREP", "RG", "FZF", "SSH", "GNU", "POSIX", "TZ", "DYLD", "GO", "NODE", "NPM", "PYTHON", "PERL", "RUBY", "COMP", "HIST", "PROMPT", "PS", "XDG", "HTTP", "HTTPS", "ALL_PROXY", "NO_PROXY", "FTP", "EXEC", "FUNC"} {
		if strings.HasPrefix(upper, prefix) && name == upper {
			return false
		}
	}
	if name == upper && hasWord("PATH HOME PWD OLDPWD IFS ENV SHELL SHELLOPTS CDPATH MAIL MAILPATH MAILCHECK OPTARG OPTERR OPTIND PPID RANDOM SRANDOM SECONDS REPLY UID EUID GROUPS LINENO LINES COLUMNS TERM TERMINFO TMPDIR TMP TEMP LANG LANGUAGE LOCPATH NLSPATH PAGER EDITOR VISUAL BROWSER USER LOGNAME HOSTNAME HOSTTYPE MACHTYPE OSTYPE DIRSTACK IGNOREEOF INPUTRC FCEDIT FIGNORE GLOBIGNORE GLOBSORT TIMEFORMAT TMOUT EPOCHSECONDS EPOCHREALTIME AUTO_RESUME COPROC MAPFILE HOSTFILE EMACS CHILD_MAX MANPATH MANPAGER MAGIC DISPLAY CC CXX CFLAGS LDFLAGS JQ_COLORS TREE_COLORS LS_COLORS LS_BLOCK_SIZE BLOCK_SIZE BLOCKSIZE DF_BLOCK_SIZE DU_BLOCK_SIZE TABSIZE QUOTING_STYLE TIME_STYLE CLICOLOR CLICOLOR_FORCE NO_COLOR FORCE_COLOR COLORTERM MALLOC_CHECK_ MALLOC_TRACE GCONV_PATH GETCONF_DIR HOSTALIASES RES_OPTIONS LOCALDOMAIN OPENSSL_CONF PKG_CONFIG_PATH CLASSPATH", name) {
		return false
	}
	return variableName().MatchString(name) && name != "_" && name != "histchars"
}

// localeName matches the names of locales, but none that is a path.
var localeName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(C|POSIX|C\.UTF-8|C\.utf8|en_US\.UTF-8|en_US\.utf8)$`)
})

// setting notes a variable of the environment that only says how output looks, or that forbids a
// program something. ok is false for any other one, and for a second value of the same one.
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
		ok = small(value) && value != ""
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
