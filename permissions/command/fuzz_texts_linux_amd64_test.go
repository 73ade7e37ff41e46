package command_test

import (
	"math/rand/v2"
	"strings"
)

// texts makes shell texts that lean on the seams between one token and the next: quotes,
// here-documents, comments, continued lines, redirections, keywords, characters that are
// not ASCII. Effects that must not happen are sown where a reader may take them for text.
type texts struct {
	*rand.Rand
	rows []string // of the case files, to be changed
}

func (g texts) pick(list []string) string { return list[g.IntN(len(list))] }

// often reports one of n.
func (g texts) often(n int) bool { return g.IntN(n) == 0 }

func (g texts) text() string {
	switch g.IntN(12) {
	case 0, 1:
		return g.changed(g.pick(g.rows))
	case 2, 3:
		return g.hereDocument()
	case 4:
		return g.lines()
	case 5:
		return g.measured()
	case 6, 7, 8, 9:
		return g.seams()
	default:
		return g.list(3)
	}
}

// effects are commands that the judge never allows. Each leaves a trace.
var effects = []string{"touch PWNED", "touch PWNED", "touch PWNED # ", "sh -c 'touch PWNED'", "rm a", "cat .env", "cat ../outside", "exec 3<>/dev/tcp/127.0.0.1/9", "mkdir PWNED;", "env"}

var readerNames = []string{
	"ls", "cat", "cat a", "echo", "head -n 1", "tail a", "wc -l", "sort", "uniq", "grep -n one", "grep x", "find .", "cut -c1", "tr a b", "nl", "printf '%s\\n'", "printf", "test -f", "[ -f a ]", "true", ":", "pwd", "date", "stat a",
	"sed -n 1p", "awk '{print $1}'", "jq .", "jq -f a", "jq -rf", "jq -n -f", "od -c", "paste", "rev", "cd src", "git status", "git log", "git log --oneline", "git diff", "git show --stat", "git branch", "git tag", "diff a b", "basename", "type", "command -v", "file", "realpath", "egrep o", "rg one a", "seq 2", "xxd -l 4 a", "base64 a", "column -t a", "export A=b", "export", "git for-each-ref", "git worktree list", "git name-rev HEAD",
}

var plainWords = []string{
	"a", "b", "'a b'", "src", "src/main.go", "-n", "--", "x", "1", "-1", "a#b", "''", "\"\"", "'#'", "\"$\"", "\"a\\\"b\"", "a\\ b", "\\#", "\\a", "$'a'", "$'\\n'", "\"'\"", "'\"'", "=", "a=b", "~", "!", "{}", "}", "in", "then", "do", "fi", "time", "[", "]", "[[", "-", "+", "%", "@", ",", ".",
	"é", "'é'", "\"ü\"", "日本", "\u00a0", "\u3000", "\u2028", "à", "\u200b", "*", "?", "a*", "[a]", "{a,b}", "{1..2}", "$X", "\"$X\"", "$(ls)", "`ls`", "${X}", "$((1))", "$\"a\"", "\\", "\\\n", "'a\nb'", "\"a\nb\"", "\"a\\\nb\"", "README.md", "HEAD", "--stat", "--format=%h", "--format=%+G?", "--oneline", "FIFO", "%s", "%5d",
}

var separators = []string{" ", " ", " ", " ", "\t", "  ", "", "\\\n", " \\\n", "\n", ";", " ; ", " && ", " || ", " | ", "|", " & ", "|&", " |\n", " &&\n", "\n\n", "; # c\n", " # c\n", " #c \\\n", "\\\n#", "#", ";#", "(", ")", "{", "}", ";;", "! "}

var redirections = []string{
	" 2>/dev/null", " 2>&1", " >&2", " < a", " <a", " 2> /dev/null", " > /dev/null", " >/dev/null 2>&1", " &>/dev/null", " <<< x", " <<< 'a b'", " 3<a", " 2 >/dev/null", " >x", " >& x", " <>a", " {fd}<a", " <&-", " 12>&1", " 999999999999>&1", " >|/dev/null", " <(ls)", " >& /dev/null", " 1>&2-",
}

// command is a simple command of words with separators.
func (g texts) command() string {
	var b strings.Builder
	if g.often(12) {
		b.WriteString(g.pick(redirections) + " ")
	}
	if g.often(12) {
		b.WriteString(g.pick(effects))
	} else {
		b.WriteString(g.pick(readerNames))
	}
	for range g.IntN(4) {
		if g.often(8) {
			b.WriteString(g.pick(separators))
		} else {
			b.WriteString(" ")
		}
		b.WriteString(g.word())
		if g.often(12) {
			b.WriteString(g.pick(redirections))
		}
	}
	return b.String()
}

// word is mostly one piece, and sometimes several without a blank between them.
func (g texts) word() string {
	w := g.pick(plainWords)
	for g.often(6) {
		w += g.pick(plainWords)
	}
	return w
}

// list joins commands and constructs.
func (g texts) list(depth int) string {
	var b strings.Builder
	for i := range 1 + g.IntN(3) {
		if i > 0 {
			b.WriteString(g.pick(separators[11:23]))
		}
		if depth == 0 || !g.often(3) {
			b.WriteString(g.command())
			continue
		}
		b.WriteString(g.construct(depth - 1))
	}
	return b.String()
}

func (g texts) construct(depth int) string {
	inner := func() string { return g.list(depth) }
	shut := g.pick([]string{"; ", "\n", ";\n", " ;", ""})
	switch g.IntN(12) {
	case 0:
		return "(" + g.pick([]string{"", " ", "\n"}) + inner() + g.pick([]string{")", " )", "\n)"})
	case 1:
		return "{ " + inner() + shut + "}" + g.pick(append([]string{"", "", ""}, redirections...))
	case 2:
		return "if " + inner() + shut + "then " + inner() + shut + g.pick([]string{"fi", "else " + g.command() + "; fi", "elif true; then " + g.command() + "\nfi"})
	case 3:
		return "case " + g.word() + " in " + g.word() + ") " + inner() + g.pick([]string{";; esac", "; esac", "\nesac", ";; *) ls;; esac", ";& x) ls; esac", " ;; (b|c) ls; esac"})
	case 4:
		return g.pick([]string{"while false; do ", "until true; do ", "for i in a; do ", "while :; do "}) + inner() + shut + "done"
	case 5:
		return "! " + inner()
	case 6:
		return g.pick([]string{"time ", "time -p ", "coproc ", "f() ", "function f ", "select x in a; do "}) + inner()
	case 7:
		return g.pick([]string{"[[ a =~ ", "[[ -f ", "((", "$((", "(( 1 ", "[ -f "}) + g.word() + g.pick([]string{" ]]", "))", " ]", " ))"})
	case 8:
		return "\"" + g.command() + "\""
	case 9:
		return g.hereDocument()
	default:
		return g.command() + g.pick([]string{" | ", "|", " |\n", " |& "}) + g.command()
	}
}

var delimiterPieces = []string{"E", "E", "EOF", "'E'", "\"E\"", "\\E", "''", "\"\"", "#", "\\", "\"E\\\"F\"", "\"\\\\\"", "$'a\\tb'", "$'E'", "$\"E\"", "é", "日", "'é'", "-", "E-", ".", "\\\n", "\\#", "'a b'", "!", "~", "*", "{E}", "=", "[", "%", "'", "\"", "$E", "`E`", "$(E)", "}", "\\ ", "\\'"}

// hereDocument is one or two here-documents with what may end them and what may follow.
func (g texts) hereDocument() string {
	var b strings.Builder
	b.WriteString(g.pick([]string{"cat ", "cat", "wc -l ", "cat a ", "cat - ", "(cat ", "{ cat ", "! cat ", "if cat ", "sort "}))
	var ends []string
	for range 1 + g.IntN(4)/3 {
		op := g.pick([]string{"<<", "<<", "<<", "<<-", "<< ", "<<- ", "0<<", "<<\t"})
		delimiter := g.pick(delimiterPieces)
		for g.often(3) {
			delimiter += g.pick(delimiterPieces)
		}
		b.WriteString(op + delimiter + " "[:g.IntN(2)])
		ends = append(ends, spellings(delimiter)...)
	}
	b.WriteString(g.pick([]string{"", "", "", "", ";ls", "; " + g.pick(effects), "|cat", "&& ls", " # c", "#c", ")", "; }", " \\", "; then ls; fi", " &&", " |", ";" + g.pick(effects)}) + "\n")
	for range g.IntN(6) {
		switch g.IntN(4) {
		case 0:
			b.WriteString(g.pick(ends))
		case 1:
			b.WriteString(g.pick(effects))
		case 2:
			b.WriteString(g.pick([]string{"", "\t", " ", "x", "\\", "#", "$X", "$(touch PWNED)", "`touch PWNED`", "'", "\"", "é", "x \\", "\tE", "E ", "E\\", ")"}))
		default:
			b.WriteString(g.pick([]string{"\t", "", "", ""}) + g.pick(ends))
		}
		if !g.often(10) {
			b.WriteString("\n")
		}
	}
	b.WriteString(g.pick(ends) + g.pick([]string{"", "\n", "\nls", "\n" + g.pick(effects), "\n)"}))
	return b.String()
}

// spellings are the lines that some reader may take for the end of a here-document.
func spellings(delimiter string) []string {
	bare := strings.NewReplacer("'", "", "\"", "", "\\", "", "$", "").Replace(delimiter)
	return []string{
		delimiter, bare, strings.Trim(delimiter, "'\""), strings.ReplaceAll(delimiter, "\\", ""), strings.NewReplacer("'", "", "\"", "").Replace(delimiter),
		strings.NewReplacer("\\t", "\t", "$'", "", "'", "").Replace(delimiter), strings.TrimSuffix(strings.TrimPrefix(strings.ReplaceAll(delimiter, "\\\"", "\""), "\""), "\""), "",
	}
}

// lines are commands of which each may hide the next.
func (g texts) lines() string {
	var b strings.Builder
	for range 2 + g.IntN(4) {
		b.WriteString(g.pick([]string{
			g.command(), g.command(), g.pick(effects), "# c", "# c \\", "#", "echo a \\", "echo a\\", "echo 'a", "b'", "echo \"a # b", "b\"", "echo $'a\\'", "'", "{", "}", "(", ")", "ls &&", "ls |", "| cat", "if ls", "then", "fi", "case a in", "a) # c", ";;", "esac", "echo `", "`", "\\", "E", "cat <<E", "cat <<'E'", "<<E", "cat <<-E # c", "\tE",
			"ls \\", "-l #", "!", "echo \\", "ls; \\", "#\\", "echo a;# \\", "done", "while false", "do", "ls #'", "ls \"#\" # \"",
		}))
		b.WriteString("\n")
	}
	return b.String()
}

// measured are commands whose numbers may make them endless or enormous, and forms of git
// that may run a program or print history.
func (g texts) measured() string {
	number := g.pick([]string{"1", "3", "10", "inf", "nan", "1e9", "-1", "0", "99999999999", "2000000000", "0x10", "1000", "+5"})
	commands := []string{
		"seq " + number, "seq 1 " + number, "seq 1 " + number + " 5", "seq -f %" + number + "f 2", "seq -s x " + number, "printf '%." + number + "f' 1", "printf '%" + number + "d' 1", "printf %" + number + "s x", "cat FIFO", "cat < FIFO", "head -c 5 FIFO", "grep x FIFO", "wc FIFO", "nl -w " + number + " a", "while :; do :; done",
		"until false; do true; done", "while true; do ls; done", "diff -y -W " + number + " a b", "date +%" + number + "Y", "stat -c %" + number + "n a", "find . -printf '%" + number + "p'", "tail -n " + number + " a", "file -s FIFO", "cat - | cat", "sort FIFO a", "git log --format='%" + g.pick([]string{"", "+", "-", " "}) + g.pick([]string{"h", "G?", "GG", "GS", "s", "an", "x09", "n", "C(auto)%h", "(describe)", "b", "GK", "%%G?"}) + "'",
		"git log --pretty=" + g.pick([]string{"mine", "oneline", "format:%GG", "tformat:%h", "format:%+GS", "min", "medium"}), "git diff " + g.pick([]string{"a", "README.md", "HEAD", "main", "-- a", "a --", "README.md --", "README.md -- a", "HEAD~1", "'HEAD^@'", "HEAD..main", "-- README.md"}), "git show " + g.pick([]string{"--stat", "HEAD --stat", "README.md --stat", "--format=%G?", "-s", "-s --format=%+G?"}),
		"git branch --sort=" + g.pick([]string{"signature", "refname", "-committerdate"}), "git tag -l --format='%(" + g.pick([]string{"refname", "signature", "contents", "subject"}) + ")'", "git log --format=%h --format=mine", "git stash list", "git shortlog -s HEAD", "git log -1",
	}
	text := g.pick(commands)
	if g.often(3) {
		text += g.pick([]string{" | ", "; ", " && ", "\n"}) + g.pick(commands)
	}
	if g.often(6) {
		return g.changed(text)
	}
	return text
}

// changed inserts, removes, doubles or exchanges pieces of a text.
func (g texts) changed(text string) string {
	for range 1 + g.IntN(3) {
		at := g.IntN(len(text) + 1)
		to := min(len(text), at+1+g.IntN(4))
		switch g.IntN(7) {
		case 0:
			text = text[:at] + text[to:]
		case 1:
			text = text[:at] + text[at:to] + text[at:]
		case 2:
			text = text[:at] + g.pick(separators) + text[at:]
		case 3:
			text = text[:at] + g.pick(plainWords) + text[at:]
		case 4:
			text = text[:at] + g.pick(redirections) + text[at:]
		case 5:
			text += g.pick(separators) + g.pick(effects)
		default:
			text = text[:at] + g.pick(separators) + g.pick(g.rows)
		}
	}
	return text
}
