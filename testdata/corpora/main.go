// Command corpora collects the commands that agents ran in recorded sessions which are public, as a corpus for
// TestCorpora (testdata/cases/corpora.md): rows [class, command] in JSON on standard output, each command once,
// with the directory beneath {work} in which it ran as a third item where a terminal had moved before.
//
//	go run ./testdata/corpora -format specstory '-work=/Users/\w+/project' REPOSITORY > DIR/a.json
//	go run ./testdata/corpora -format cursor -work /Users/name/project REPOSITORY > DIR/c.json
//	go run ./testdata/corpora -format console -work /Users/name/project REPOSITORY > DIR/d.json
//	go run ./testdata/corpora -format input -work /Users/name/project REPOSITORY > DIR/e.json
//	go run ./testdata/corpora -format miniswe -work /app REPOSITORY > DIR/b.json
//
// REPOSITORY is a git directory; every version of every file in its history is read. In a command {work} stands for
// the directory that it was recorded in.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// format says where a kind of recording keeps its commands.
type format struct {
	path    string         // of files, as a pathspec of git
	call    *regexp.Regexp // a piece of a file that holds one command at most
	command *regexp.Regexp // what of the piece is the command
	moves   bool           // the commands of a file share one terminal, in which a cd lasts
	quoted  bool           // the command is a string of JSON
}

// work stands for the directory of the recording in a command.
const work = "{work}"

var (
	formats = map[string]format{
		"specstory": {
			"*.specstory/history/*", regexp.MustCompile(`(?s)data-tool-type="shell".*?</tool-use>`),
			regexp.MustCompile("(?s)</summary>[^`<]*(?:`([^`\n]+)`\n|```(?:bash|sh|shell)\n(.*?)\n```)"), false, false,
		},
		"cursor": {
			"*.specstory/history/*", regexp.MustCompile("(?s)Tool use: \\*\\*run_terminal_cmd\\*\\*\n\n```bash\n.*?\n```"),
			regexp.MustCompile("(?s)```bash\n(.*)\n```"), true, false,
		},
		"console": {
			"*claude-dev-log-diary/day-*", regexp.MustCompile(`(?m)^ *⏺ Bash\(.*$`),
			regexp.MustCompile(`⏺ Bash\(([^\n…]*?)\)…?(?: +Cost: .*)?$`), true, false,
		},
		"input": {
			"*transcripts/claude-code/*.md", regexp.MustCompile(`(?s)Using tool: Bash\nInput: \{\n.*?\n\}`),
			regexp.MustCompile(`(?m)^  "command": ("(?:[^"\\]|\\.)*")`), false, true,
		},
		"miniswe": {
			"*swe-agent-mini*agent.log", regexp.MustCompile("(?s)```bash\n.*?\n```"), regexp.MustCompile("(?s)```bash\n(.*)\n```"), false, false,
		},
	}
	control = regexp.MustCompile("\x1b\\[[0-9;?]*[a-zA-Z]|\r")
)

func main() {
	log.SetFlags(0)
	name := flag.String("format", "", "specstory, cursor, console, input or miniswe")
	work := flag.String("work", "^$", "the directory that the commands were recorded in, a regular expression")
	flag.Parse()
	f, ok := formats[*name]
	if !ok || flag.NArg() != 1 {
		log.Fatal("usage: corpora -format specstory|cursor|console|input|miniswe [-work DIR] REPOSITORY")
	}
	recorded, err := regexp.Compile(*work)
	if err != nil {
		log.Fatal(err)
	}
	rows, err := collect(flag.Arg(0), f, recorded)
	if err != nil {
		log.Fatal(err)
	}
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	out.SetIndent("", " ")
	if err := out.Encode(rows); err != nil {
		log.Fatal(err)
	}
}

// collect returns a row for each of the commands of all versions of the files, in the order of their first
// appearance.
func collect(repository string, f format, recorded *regexp.Regexp) (rows [][]string, err error) {
	history, err := git(repository, "log", "--all", "--reverse", "--format=", "--raw", "--no-abbrev", "--no-renames", "--", f.path)
	if err != nil {
		return nil, err
	}
	dirs, err := directories(repository)
	if err != nil {
		return nil, err
	}
	seen, blobs := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(string(history)) {
		fields := strings.Fields(line)
		if len(fields) < 5 || blobs[fields[3]] || strings.Trim(fields[3], "0") == "" {
			continue
		}
		blobs[fields[3]] = true
		text, err := git(repository, "cat-file", "blob", fields[3])
		if err != nil {
			continue // a snapshot may lack its largest files
		}
		text = control.ReplaceAll(text, nil)
		terminal := moves{dirs: dirs}
		for _, call := range f.call.FindAllIndex(text, -1) {
			match := f.command.FindSubmatch(text[call[0]:call[1]])
			if match == nil {
				continue
			}
			command := string(bytes.Join(match[1:], nil))
			if f.quoted && json.Unmarshal([]byte(command), &command) != nil {
				continue
			}
			command = recorded.ReplaceAllLiteralString(strings.TrimSpace(command), work)
			if !seen[command] {
				seen[command] = true
				row := []string{class(command), command}
				if dir := terminal.at(); f.moves && dir != "" {
					row = append(row, dir)
				}
				rows = append(rows, row)
			}
			terminal.follow(command, string(text[call[1]:min(call[1]+shownOutput, len(text))]))
		}
	}
	return rows, nil
}

// shownOutput is how much of what stands behind a command is looked at for a move that the shell refused.
const shownOutput = 200

func git(repository string, args ...string) ([]byte, error) {
	out, err := exec.Command("git", append([]string{"--git-dir", repository}, args...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("git %s: %w", args[0], err)
	}
	return out, nil
}

// classes of commands, the one that counts most first.
var classes = []struct {
	name string
	is   *regexp.Regexp // of a simple command, words joined by blanks
}{
	{"dangerous", regexp.MustCompile(`^(sudo|su|dd|mkfs\S*|shutdown|reboot|doas) |^rm -\S*[rR]|^git (reset --hard|clean -\S*f|push .*(-f|--force)|checkout (\.|-- )|restore (-[sWp]|--[wp]|--source|[^-]|-- )|stash (drop|clear)|branch -D)|^chmod -R|^(pkill|killall) |^kill -9|^find .*(-delete|-exec rm)`)},
	{"outside", regexp.MustCompile(`^(docker|docker-compose|podman|systemctl|service|kill|crontab|mount|umount|useradd|usermod|chown|chmod|open|osascript|tmux|screen|passwd|launchctl|nohup|apachectl|nginx|redis-server|update-\S+|dpkg) |^(nginx|redis-server)$`)},
	{"network", regexp.MustCompile(`^(curl|wget|ssh|scp|rsync|nc|telnet|ping|dig|nslookup|host|gh|apt|apt-get|brew|pip3?|conda|npx|uvx?|ftp) |^git (push|pull|fetch|clone|ls-remote|remote (add|update)|submodule)|^(npm|yarn|pnpm|bun) (i|install|add|ci|publish|view)\b|^(npm|yarn|pnpm) (i|install|ci)$|^go (get|install|mod (download|tidy))|^cargo (install|add|fetch|publish)|^python3? -m pip |^(gem|cpan|R) `)},
	{"writes", regexp.MustCompile(`^(>|tee|mkdir|cp|mv|rm|rmdir|touch|ln|patch|unzip|tar|zip|truncate|install|gzip|gunzip|split|ed) |^sed .*-i|^perl .*-i|^git branch (-[dmcfM]|--delete|--move|--copy) |^git (add|commit|rm|mv|stash|checkout|switch|merge|rebase|cherry-pick|restore|revert|tag|init|config|worktree|reset|apply|am|remote (set-url|remove|rename))\b|^gofmt .*-w|^(gofmt|goimports|prettier|black) `)},
	{"builds", regexp.MustCompile(`^(go|make|cargo|npm|yarn|pnpm|bun|node|deno|tsc|python3?|pytest|gcc|g\+\+|cc|clang|rustc|javac|java|mvn|gradle|cmake|ninja|ruby|perl|php|bash|sh|zsh|golangci-lint|eslint|jest|vitest|dotnet|swift|lua|Rscript|ocaml|dune|coqc|povray|sqlite3|psql|mysql|ffmpeg|convert|openssl|xvfb-run|\./\S+|\S*/bin/\S+)( |$)`)},
	{"reads", regexp.MustCompile(`^(ls|cat|head|tail|grep|egrep|fgrep|rg|find|fd|wc|sort|uniq|cut|tr|sed|awk|jq|yq|diff|cmp|file|stat|du|df|tree|pwd|cd|echo|printf|which|type|command|whoami|id|date|env|printenv|uname|basename|dirname|realpath|readlink|test|\[|true|false|xxd|hexdump|od|strings|nl|less|more|column|comm|paste|rev|tac|fold|md5sum|sha\d*sum|shasum|base64|ps|pgrep|top|free|lsof|ss|netstat|hostname|uptime|nproc|lscpu|xargs|sleep|seq|expr|git|export|:|set|time|timeout|for|\w+=\S*)( |$)`)},
}

// outside finds a place that no project holds: also the parent of the directory, and all of the disk.
var outside = regexp.MustCompile(`(^|[\s"'=])\.\.(/|[\s;]|$)|\b(find|ls|du|tree|cd) (-\S+ )*/(\s|$)|(^|[\s"'=(:])(~|\$HOME|\$\{HOME\}|/(etc|usr|var|opt|root|home|Users|Applications|tmp|dev/shm|proc|sys|logs|tests|srv|mnt|private))(/|\s|$)`)

// secret finds a file that is for secrets by its name.
var secret = regexp.MustCompile(`(^|[\s"'=(/])(\.env(\.(local|production|prod|development|dev|staging|vercel))?|\.secrets|\.netrc|id_(rsa|ecdsa|ed25519)|[\w.-]+\.(pem|key))(["'\s;|&)]|$)`)

// wrapped finds what stands before a command that runs all the same, gitOptions what stands before
// the subcommand of git, and executed what find runs.
var (
	wrapped    = regexp.MustCompile(`^((time|nice|timeout( -\S+)* \S+|xargs( -[0rt]+| -[nPLId] ?\S+)*) )+`)
	gitOptions = regexp.MustCompile(`^git(( -[Cc] ("[^"]*"|'[^']*'|\S+))| --\S+| -P)+ `)
	executed   = regexp.MustCompile(` -exec(dir)? (.*)`)
)

// class is the class of the part that counts most, with "secrets" for files of secrets between what is
// outside and the network; "other" is what no class names.
func class(command string) string {
	file, err := syntax.NewParser().Parse(strings.NewReader(command), "")
	if err != nil {
		return "other"
	}
	best, printer := len(classes), syntax.NewPrinter(syntax.SingleLine(true))
	known := true
	judge := func(text string) {
		text = gitOptions.ReplaceAllString(wrapped.ReplaceAllString(text, ""), "git ")
		i := slices.IndexFunc(classes, func(c struct {
			name string
			is   *regexp.Regexp
		},
		) bool {
			return c.is.MatchString(text)
		})
		if i < 0 {
			known = false
			return
		}
		best = min(best, i)
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.CallExpr:
			var text strings.Builder
			if len(node.Args) > 0 && printer.Print(&text, &syntax.CallExpr{Args: node.Args}) == nil {
				name, rest, _ := strings.Cut(text.String(), " ")
				if filepath.Dir(name) == "/usr/bin" || filepath.Dir(name) == "/bin" {
					name = filepath.Base(name)
				}
				judge(strings.TrimSpace(name + " " + rest))
				if run := executed.FindStringSubmatch(rest); name == "find" && run != nil {
					judge(run[2])
				}
			}
		case *syntax.Redirect:
			if node.Word == nil || node.Op == syntax.DplOut || node.Op == syntax.DplIn || node.Hdoc != nil {
				return true
			}
			var word strings.Builder
			if printer.Print(&word, node.Word) != nil || word.String() == "/dev/null" {
				return true
			}
			if node.Op == syntax.RdrIn || node.Op == syntax.WordHdoc {
				judge("cat " + word.String())
			} else {
				judge("> " + word.String())
			}
		}
		return true
	})
	switch {
	case best > 1 && outside.MatchString(command):
		best = 1
	case best > 1 && secret.MatchString(command):
		return "secrets"
	}
	if best == len(classes) || !known && classes[best].name == "reads" {
		return "other"
	}
	return classes[best].name
}
