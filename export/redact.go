package export

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"acp-agent/store"
	"acp-agent/transcript"
)

// Redaction takes out what tells where a conversation took place: addresses, hosts, e-mail
// addresses, the user's name, images, and paths but for the part below the session's
// directories. Each is replaced by a label that is the same wherever the same thing stood, such as
// [host-2]. What remains of names, such as that of a package, is for the reader to judge.
type Redaction struct {
	// Home is the user's home directory, User the user's name and Host the machine's. What is
	// empty is not known.
	Home, User, Host string
}

// apply returns the conversation without what is to be taken out. It reads the messages once, for
// a host that an address names later stands bare earlier.
func (r Redaction) apply(c Conversation) (Conversation, error) {
	s := newScrubber(r, c.Info)
	for m, err := range c.Messages {
		if err != nil {
			return c, err
		}
		data, err := transcript.EncodeMessage(m)
		if err != nil {
			return c, err
		}
		s.learn(string(data))
	}
	messages, decisions, notes := c.Messages, c.Decisions, c.Notes
	clean := Conversation{Price: c.Price, Info: c.Info}
	if err := s.value(c.Info, &clean.Info); err != nil {
		return c, err
	}
	if err := s.value(c.Plan, &clean.Plan); err != nil {
		return c, err
	}
	for _, note := range notes {
		clean.Notes = append(clean.Notes, s.text(note))
	}
	clean.Notes = append(clean.Notes, "Paths, hosts, addresses and pictures were taken out for sharing.")
	clean.Decisions = map[string]Decision{}
	for id, d := range decisions {
		d.By, d.Reason = s.text(d.By), s.text(d.Reason)
		clean.Decisions[id] = d
	}
	clean.Messages = func(yield func(*transcript.Message, error) bool) {
		for m, err := range messages {
			if err == nil {
				m, err = s.message(m)
			}
			if !yield(m, err) || err != nil {
				return
			}
		}
	}
	return clean, nil
}

// message is a copy of a message without what is taken out, with all it holds.
func (s *scrubber) message(m *transcript.Message) (*transcript.Message, error) {
	data, err := transcript.EncodeMessage(m)
	if err != nil {
		return nil, err
	}
	if data, err = s.json(data); err != nil {
		return nil, fmt.Errorf("message %s: %w", m.ID, err)
	}
	return transcript.DecodeMessage(data)
}

// value copies a value by its JSON.
func (s *scrubber) value(from, to any) error {
	data, err := json.Marshal(from)
	if err != nil {
		return err
	}
	if data, err = s.json(data); err != nil {
		return err
	}
	return json.Unmarshal(data, to)
}

// scrubber replaces what is to be taken out of texts.
type scrubber struct {
	roots  []root
	user   names // none when the name is not known, or identifies no one
	labels map[string]string
	count  map[string]int
	hosts  map[string]bool // that addresses name
	bare   *names          // of hosts; made when it is needed
}

// names are names in lower case, and the form that finds them as whole words.
type names struct {
	list []string
	form *regexp.Regexp
}

// namesIn returns the names; of several that begin alike, the longest is found. format has a place for the
// alternatives.
func namesIn(list []string, format string) names {
	slices.SortFunc(list, func(a, b string) int { return len(b) - len(a) })
	var quoted []string
	for i, name := range list {
		list[i] = strings.ToLower(name)
		quoted = append(quoted, regexp.QuoteMeta(name))
	}
	return names{list, regexp.MustCompile(fmt.Sprintf(format, strings.Join(quoted, "|")))}
}

// mayBeIn reports whether a text has to be searched. Of letters beyond ASCII more than one spelling
// counts as the same.
func (n names) mayBeIn(text string) bool {
	if len(n.list) == 0 {
		return false
	}
	folded := strings.ToLower(text)
	return strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) || hasAny(folded, n.list...)
}

// root is a directory of the session in one spelling, and what stands in its place.
type root struct{ spelling, label string }

// commonUsers are names of users that identify no one. They are also common words.
var commonUsers = []string{"root", "user", "admin", "home", "dev", "build", "runner", "ubuntu", "debian", "vscode", "node", "app", "test", "agent"}

func newScrubber(r Redaction, info store.Info) *scrubber {
	s := &scrubber{labels: map[string]string{}, count: map[string]int{}, hosts: map[string]bool{}}
	s.addRoot(info.Cwd, "[project]")
	for i, dir := range info.Additional {
		s.addRoot(dir, fmt.Sprintf("[project-%d]", i+2))
	}
	s.addRoot(r.Home, "[home]")
	slices.SortStableFunc(s.roots, func(a, b root) int { return len(b.spelling) - len(a.spelling) })
	s.user = telling(append([]string{r.User}, ownersOf(slices.Concat(info.Additional, []string{info.Cwd}))...))
	if len(r.Host) >= 3 && r.Host != "localhost" {
		s.hosts[strings.ToLower(r.Host)] = true
	}
	return s
}

// ownersOf are the users in whose home directories the session's directories are. Another user may
// export the session, and listings of files name the owners.
func ownersOf(dirs []string) (users []string) {
	for _, dir := range dirs {
		names := strings.Split(strings.ReplaceAll(dir, `\`, "/"), "/")
		if len(names) > 2 && slices.Contains([]string{"home", "Users"}, names[1]) {
			users = append(users, names[2])
		}
	}
	return users
}

// telling are the names of users that tell something.
func telling(users []string) names {
	users = slices.DeleteFunc(users, func(user string) bool {
		return len(user) < 3 || slices.Contains(commonUsers, strings.ToLower(user))
	})
	return namesIn(users, `(?i)(^|[^\pL\pN])(%s)($|[^\pL\pN])`)
}

// addRoot adds a directory in the spellings in which it occurs: as it is, within JSON, with the
// other slash, in an address, and as one name.
func (s *scrubber) addRoot(dir, label string) {
	dir = strings.TrimRight(dir, `/\`)
	if len(dir) < 2 {
		return
	}
	slashed := strings.ReplaceAll(dir, `\`, "/")
	spellings := []string{
		dir, slashed, strings.ReplaceAll(dir, `\`, `\\`), strings.ReplaceAll(slashed, "/", `\/`), strings.ReplaceAll(slashed, " ", "%20"),
	}
	if strings.Count(slashed, "/") > 1 {
		spellings = append(spellings, strings.NewReplacer("/", "-", ".", "-", "_", "-", ":", "-").Replace(slashed), strings.ReplaceAll(slashed, "/", "-"))
	}
	slices.Sort(spellings)
	for _, spelling := range slices.Compact(spellings) {
		s.roots = append(s.roots, root{strings.ToLower(spelling), label})
	}
}

// label is what stands in the place of a thing of a kind.
func (s *scrubber) label(kind, what string) string {
	key := kind + " " + strings.ToLower(what)
	if s.labels[key] == "" {
		s.count[kind]++
		s.labels[key] = "[" + kind + "-" + strconv.Itoa(s.count[kind]) + "]"
	}
	return s.labels[key]
}

// forms are what addresses, paths and hosts look like.
type forms struct{ address, email, login, windows, home, homeRest, path, ipv4, ipv6, host *regexp.Regexp }

// redactedForms compiles the forms when the first text is redacted, and not with each start of the
// program.
var redactedForms = sync.OnceValue(func() *forms {
	return &forms{
		address: regexp.MustCompile(`(?i)\b[a-z][a-z0-9+.-]{1,20}:(?:\\?/){2}(?:\\/|[^\s"'<>` + "`" + `\\|^{}\x00-\x1f])+`),
		email:   regexp.MustCompile(`(?i)[\pL\pN._%+-]+@(?:[\pL\pN](?:[\pL\pN-]*[\pL\pN])?\.)+\pL{2,}(?::[\w~./-]+)?`),
		login:   regexp.MustCompile(`[\w.-]+@[A-Za-z][\w-]*:[~/\w][\w./~-]*`), // of a prompt, and of ssh
		windows: regexp.MustCompile(`(?i)(?:\b[a-z]:|\\\\(?:\\\\)?[\w.$-]+)(?:[\\/]+[^\s"'<>|:*?\\/` + "`" + `,;()\[\]{}]+)+`),
		home:    regexp.MustCompile(`(^|[^\w\]~/.])(~\w*(?:\\?/[^\s"'<>|:;,(){}\[\]\\*?$&!=` + "`" + `]+)+)`),
		// homeRest is a path below the home directory, after it.
		homeRest: regexp.MustCompile(`^(?:[\\/]+[^\s"'<>|:;,(){}\[\]\\/*?$&!=` + "`" + `]+)*`),
		// A path has two names at least: "/export" may be a command, and "/" divides.
		path: regexp.MustCompile(`(^|[^\pL\pN\]_~/.*)}\\$-]|-[A-Za-z])((?:\\?/[\pL\pN_.@%+~-][^\s"'<>|:;,(){}\[\]\\*?$&!=/` + "`" + `]*){2,}(?:\\?/)?)`),
		ipv4: regexp.MustCompile(`(^|[^\w.])((?:\d{1,3}\.){3}\d{1,3})($|[^\w.]|\.\s|\.$)`),
		ipv6: regexp.MustCompile(`(?i)(^|[^\w:.])((?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4})($|[^\w:])`),
		host: regexp.MustCompile(`(?i)\b(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+(?:` + tops + `)\b(?::\d+\b)?`),
	}
})

// tops are the last labels of names of hosts, except labels that file names end with, too.
const tops = `com|org|net|edu|gov|mil|int|info|biz|io|dev|app|cloud|tech|online|site|eu|uk|de|fr|nl|be|ch|at|it|es|pt|pl|cz|dk|se|no|fi|ie|us|ca|mx|br|ar|cl|au|nz|jp|cn|kr|tw|hk|sg|in|ru|ua|il|za|tr|gr|hu|ro|bg|` +
	`internal|local|lan|corp|intranet|localdomain|private|home|invalid|test|example`

// learn notes the hosts that the addresses of a text within JSON name.
func (s *scrubber) learn(text string) {
	for line := range strings.SplitSeq(text, `\n`) {
		s.learnFrom(line)
	}
}

func (s *scrubber) learnFrom(line string) {
	if hasAny(line, ":/", `:\/`) {
		for _, address := range redactedForms().address.FindAllString(line, -1) {
			_, rest, _ := strings.Cut(strings.ReplaceAll(address, `\/`, "/"), "://")
			s.learnHost(rest)
		}
	}
	if hasAny(line, "@") {
		for _, form := range []*regexp.Regexp{redactedForms().email, redactedForms().login} {
			for _, address := range form.FindAllString(line, -1) {
				s.learnHost(address)
			}
		}
	}
}

// learnHost notes the host at the beginning of an address without its scheme.
func (s *scrubber) learnHost(rest string) {
	host, _, _ := strings.Cut(rest, "/")
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		host = host[at+1:]
	}
	host, _, _ = strings.Cut(host, ":")
	host = strings.ToLower(strings.Trim(host, ".,;!?)]"))
	if len(host) >= 3 && host != "localhost" && strings.ContainsAny(host, "abcdefghijklmnopqrstuvwxyz") {
		s.hosts[host], s.bare = true, nil
	}
}

// bareHosts finds the hosts that were learned wherever they stand.
func (s *scrubber) bareHosts() *names {
	if s.bare == nil {
		found := namesIn(slices.Sorted(maps.Keys(s.hosts)), `(?i)(^|[^\w-])((?:[\w-]+\.)*(?:%s))($|[^\w-])`)
		s.bare = &found
	}
	return s.bare
}
