package mcp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// The limits of what a server says of its prompts.
const (
	// maxPrompts bounds the prompts of one server, maxArguments the arguments of one.
	maxPrompts, maxArguments = 100, 20
	// maxCommand bounds what stands for a prompt behind its server, in bytes.
	maxCommand = 64
	// maxSummary bounds a description in a list, and maxArgument the name of an argument,
	// in characters.
	maxSummary, maxArgument = 200, 100

	commandPrefix = "mcp:"
)

// Prompt is a prompt of a server, which a user uses by a command.
type Prompt struct {
	// Command is what a user types for it behind a slash, mcp:SERVER:PROMPT. It has no
	// blanks, and no other prompt of a Manager has it.
	Command string
	// Name is what its server calls it.
	Name string
	// Description is one line, cleaned and cut to 200 characters.
	Description string
	// Arguments are those it takes, the required ones first.
	Arguments []Argument
}

// Argument is an argument of a prompt. Its name is its server's; the description is one
// line, cleaned and cut to 200 characters.
type Argument struct {
	Name, Description string
	Required          bool
}

// Hint says in one line what may follow the command: <what must> [what may].
func (p *Prompt) Hint() string {
	var words []string
	for _, a := range p.Arguments {
		form := "[%s]"
		if a.Required {
			form = "<%s>"
		}
		words = append(words, fmt.Sprintf(form, a.Name))
	}
	return strings.Join(words, " ")
}

// IsCommand reports whether a name is of the form that commands for prompts have.
func IsCommand(name string) bool {
	server, prompt, ok := strings.Cut(strings.TrimPrefix(name, commandPrefix), ":")
	return ok && strings.HasPrefix(name, commandPrefix) && server != "" && prompt != ""
}

// PromptID is what a rule about tools would have to name for it to mean the prompt of a
// command: mcp:SERVER:PROMPT, mcp:SERVER:*.
func PromptID(command string) string {
	server, prompt, _ := strings.Cut(strings.TrimPrefix(command, commandPrefix), ":")
	return toolID(server, prompt)
}

// Prompts are those of all servers, in the order of the servers and of their commands.
// Prompts of a disconnected server stay listed and fail when used.
func (m *Manager) Prompts() []Prompt {
	var all []Prompt
	for _, l := range m.all() {
		l.mu.Lock()
		all = append(all, l.offers.prompts...)
		l.mu.Unlock()
	}
	return all
}

// Expand has a server fill in the prompt that a command stands for, with what was typed
// behind the command. What it returns takes the place of that in a message: it says whose
// text it is, is bounded (100 KiB, 20 images), and what of it an assistant is to have said
// is a quotation. An error says what was wrong, in words for the user: the arguments, of
// which nothing is sent to the server then, or the server.
func (m *Manager) Expand(ctx context.Context, command, typed string) ([]transcript.Part, error) {
	l, prompt, err := m.prompt(ctx, command)
	if err != nil {
		return nil, err
	}
	arguments, err := prompt.fill(typed)
	if err != nil {
		return nil, err
	}
	answer, err := ask(ctx, l, nil, func(ctx context.Context, c *connection, token string) (*sdk.GetPromptResult, error) {
		params := &sdk.GetPromptParams{Name: prompt.Name, Arguments: arguments}
		params.SetProgressToken(token)
		return c.session.GetPrompt(ctx, params)
	})
	if err != nil {
		return nil, err
	}
	return l.message(prompt, answer)
}

// prompt finds the prompt that a command stands for. It waits for a server that has not listed its
// prompts yet.
func (m *Manager) prompt(ctx context.Context, command string) (*link, *Prompt, error) {
	server, _, _ := strings.Cut(strings.TrimPrefix(command, commandPrefix), ":")
	for _, l := range m.all() {
		if l.id != server || l.taken() {
			continue
		}
		l.mu.Lock()
		live := l.live
		l.mu.Unlock()
		if live != nil {
			select {
			case <-l.listed:
			case <-ctx.Done():
				return nil, nil, context.Cause(ctx)
			}
		}
		l.mu.Lock()
		prompts, live := l.offers.prompts, l.live
		l.mu.Unlock()
		if i := slices.IndexFunc(prompts, func(p Prompt) bool { return p.Command == command }); i >= 0 {
			return l, &prompts[i], nil
		}
		if live == nil {
			return nil, nil, l.unavailable(l.lastProblem())
		}
	}
	return nil, nil, tools.Errorf(tools.BadInput, "there is no prompt %s; /mcp lists the prompts", kinds.Line(command, maxFieldText))
}

// promptsOf takes up what a server lists. What cannot be used is dropped with the reason.
func (l *link) promptsOf(listed []*sdk.Prompt) (list []Prompt, dropped []Dropped) {
	taken := map[string]bool{}
	for _, offered := range listed {
		prompt := Prompt{
			Command: commandOf(l.id, offered.Name), Name: offered.Name,
			Description: kinds.Line(clean(cmp.Or(offered.Description, offered.Title), maxDescription), maxSummary),
		}
		if prompt.Description == "" {
			prompt.Description = kinds.Line("A prompt of the MCP server "+l.server.Name+".", maxSummary)
		}
		reason := ""
		if prompt.Arguments, reason = argumentsOf(offered.Arguments); reason == "" && taken[prompt.Command] {
			reason = "the server lists this name twice"
		}
		if reason != "" {
			dropped = append(dropped, Dropped{Kind: "prompt", Name: kinds.Line(offered.Name, maxFieldText), Reason: reason})
			continue
		}
		taken[prompt.Command] = true
		list = append(list, prompt)
	}
	slices.SortFunc(list, func(a, b Prompt) int { return cmp.Compare(a.Command, b.Command) })
	return list, dropped
}

// argumentsOf takes up the arguments of a prompt; reason says why it cannot be used.
func argumentsOf(listed []*sdk.PromptArgument) (list []Argument, reason string) {
	if len(listed) > maxArguments {
		return nil, fmt.Sprintf("it has more than %d arguments", maxArguments)
	}
	for _, offered := range listed {
		switch {
		case offered == nil || offered.Name == "":
			return nil, "an argument has no name"
		case kinds.Line(offered.Name, maxArgument) != offered.Name:
			return nil, fmt.Sprintf("the name of an argument cannot be typed, or has more than %d characters", maxArgument)
		case slices.ContainsFunc(list, func(a Argument) bool { return a.Name == offered.Name }):
			return nil, "it has two arguments of one name"
		}
		list = append(list, Argument{
			Name: offered.Name, Required: offered.Required,
			Description: kinds.Line(clean(cmp.Or(offered.Description, offered.Title), maxDescription), maxSummary),
		})
	}
	slices.SortStableFunc(list, func(a, b Argument) int {
		switch {
		case a.Required == b.Required:
			return 0
		case a.Required:
			return -1
		}
		return 1
	})
	return list, ""
}

// commandOf is what stands for a prompt behind a slash. A name that can be typed in one
// word stays as it is; of any other a hash is kept, so that two never become one.
func commandOf(server, prompt string) string {
	typeable := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-.:/@+", r)
	}
	head := commandPrefix + server + ":"
	if prompt != "" && len(prompt) <= maxCommand && utf8.ValidString(prompt) && strings.TrimFunc(prompt, typeable) == "" {
		return head + prompt
	}
	return head + hashed(plain(prompt), maxCommand, prompt)
}
