package export

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"acp-agent/store"
	"acp-agent/transcript"
)

// Redaction takes out what tells where a conversation took place: addresses, hosts, e-mail
// addresses, the user's name, pictures, and paths but for the part below the session's
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
	user   *regexp.Regexp // nil when the name is not known, or says nothing
	labels map[string]string
	count  map[string]int
	hosts  map[string]bool // that addresses name
	bare   *regexp.Regexp  // of hosts; made when it is needed
}

// root is a directory of the session in one spelling, and what stands in its place.
type root struct{ spelling, label string }

// commonUsers are names of users that tell nothing, and words besides.
var commonUsers = []string{"root", "user", "admin", "home", "dev", "build", "runner", "ubuntu", "debian", "vscode", "node", "app", "test", "agent"}

func newScrubber(r Redaction, info store.Info) *scrubber {
	s := &scrubber{labels: map[string]string{}, count: map[string]int{}, hosts: map[string]bool{}}
	s.addRoot(info.Cwd, "[project]")
	for i, dir := range info.Additional {
		s.addRoot(dir, fmt.Sprintf("[project-%d]", i+2))
	}
	s.addRoot(r.Home, "[home]")
	slices.SortStableFunc(s.roots, func(a, b root) int { return len(b.spelling) - len(a.spelling) })
	s.user = userForm(append([]string{r.User}, ownersOf(slices.Concat(info.Additional, []string{info.Cwd}))...))
	if len(r.Host) >= 3 && r.Host != "localhost" {
		s.hosts[strings.ToLower(r.Host)] = true
	}
	return s
}

// ownersOf are the users in whose home directories the session's directories are: they need not be
// the one who exports it, and a listing of files names them.
func ownersOf(dirs []string) (users []string) {
	for _, dir := range dirs {
		names := strings.Split(strings.ReplaceAll(dir, `\`, "/"), "/")
		if len(names) > 2 && slices.Contains([]string{"home", "Users"}, names[1]) {
			users = append(users, names[2])
		}
	}
	return users
}

// userForm matches the names of users that tell something; nil when there are none.
func userForm(users []string) *regexp.Regexp {
	var names []string
	for _, user := range users {
		if len(user) >= 3 && !slices.Contains(commonUsers, strings.ToLower(user)) {
			names = append(names, regexp.QuoteMeta(user))
		}
	}
	if names == nil {
		return nil
	}
	slices.SortFunc(names, func(a, b string) int { return len(b) - len(a) })
	return regexp.MustCompile(`(?i)(^|[^\pL\pN])(` + strings.Join(names, "|") + `)($|[^\pL\pN])`)
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

// formsOf compiles the forms when the first text is redacted, and not with each start of the
// program.
var formsOf = sync.OnceValue(func() *forms {
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

// learn notes the hosts that the addresses of a text name.
func (s *scrubber) learn(text string) {
	for _, address := range formsOf().address.FindAllString(text, -1) {
		_, rest, _ := strings.Cut(strings.ReplaceAll(address, `\/`, "/"), "://")
		s.learnHost(rest)
	}
	for _, form := range []*regexp.Regexp{formsOf().email, formsOf().login} {
		for _, address := range form.FindAllString(text, -1) {
			s.learnHost(address)
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
func (s *scrubber) bareHosts() *regexp.Regexp {
	if s.bare == nil && len(s.hosts) > 0 {
		var names []string
		for host := range s.hosts {
			names = append(names, regexp.QuoteMeta(host))
		}
		slices.SortFunc(names, func(a, b string) int { return len(b) - len(a) })
		s.bare = regexp.MustCompile(`(?i)(^|[^\w-])((?:[\w-]+\.)*(?:` + strings.Join(names, "|") + `))($|[^\w-])`)
	}
	return s.bare
}
