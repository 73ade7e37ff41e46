package v1

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"acp-agent/acp/schema"
	"acp-agent/kinds"
	"acp-agent/tools"
)

// optionOneByOne asks about each of several commands by itself. It is of a kind that rejects, so that no client
// takes it for a yes, and of the one that clients with a key for each kind, and clients that reject by themselves,
// do not choose: they find the rejection of all.
const optionOneByOne = "one_by_one"

// sharedCardOptions are the options of a request about several commands, one of each kind.
func (t traits) sharedCardOptions(req tools.PermissionRequest) []schema.PermissionOption {
	all := fmt.Sprintf("all %d", 1+len(req.With))
	if len(req.With) == 1 {
		all = "both"
	}
	options := []schema.PermissionOption{{OptionID: optionAllow, Name: "Allow " + all + " once", Kind: schema.PermissionOptionKindAllowOnce}}
	remember, _ := rememberAll(req)
	if remember != "" {
		options = append(options, schema.PermissionOption{
			OptionID: optionAllowAlways, Name: "Allow " + all + " " + inSession(req.Agents, "this") + ": " + kinds.Line(remember, rememberRunes),
			Kind: schema.PermissionOptionKindAllowAlways,
		})
	}
	options = append(options, schema.PermissionOption{OptionID: optionReject, Name: "Reject " + all, Kind: schema.PermissionOptionKindRejectOnce})
	if !t.oneRejection {
		options = append(options, schema.PermissionOption{
			OptionID: optionOneByOne, Name: "Ask about each one", Kind: schema.PermissionOptionKindRejectAlways,
		})
	}
	if t.optionNames && remember != "" && projectAll(req) {
		options = append(options, schema.PermissionOption{
			OptionID: optionAllowProject, Name: "Allow " + all + " for " + inProject(req.Agents) + ": " + kinds.Line(remember, rememberRunes),
			Kind: schema.PermissionOptionKindAllowAlways,
		})
	}
	return options
}

// allOf are the requests about each of the commands of a request.
func allOf(req tools.PermissionRequest) []tools.PermissionRequest {
	return append([]tools.PermissionRequest{req}, req.With...)
}

// rememberAll says what "always" would store for all commands; it is "", and why says the reason, when some of them
// may not be stored.
func rememberAll(req tools.PermissionRequest) (remember, why string) {
	var list []string
	for i, one := range allOf(req) {
		switch {
		case one.Remember == "" && one.NoAlways == "":
			return "", ""
		case one.Remember == "":
			return "", fmt.Sprintf("of command %d, %s", i+1, one.NoAlways)
		case !slices.Contains(list, one.Remember):
			list = append(list, one.Remember)
		}
	}
	return strings.Join(list, ", "), ""
}

// projectAll reports whether what "always" would store may be stored for the project.
func projectAll(req tools.PermissionRequest) bool {
	return !slices.ContainsFunc(allOf(req), func(one tools.PermissionRequest) bool { return !one.Project })
}

// sharedCardTitle has all commands, for some clients show nothing but the title of a request.
func sharedCardTitle(req tools.PermissionRequest) string {
	all := allOf(req)
	title := fmt.Sprintf("%d commands:", len(all))
	for i, one := range all {
		title += fmt.Sprintf(" [%d] %s", i+1, one.Ready.Card.Title)
	}
	return title
}

// sharedCardInput has the arguments of all commands, so that a client that decides by them knows each (O1).
func sharedCardInput(req tools.PermissionRequest) json.RawMessage {
	var all struct {
		Commands []json.RawMessage `json:"commands"`
	}
	for _, one := range allOf(req) {
		all.Commands = append(all.Commands, rawJSON(one.Ready.Args))
	}
	input, err := json.Marshal(all)
	if err != nil { // arguments that are no JSON do not get here
		return nil
	}
	return input
}

// sharedCardExplanation shows each command with its directory and why it is asked about, and then what holds for all.
func sharedCardExplanation(req tools.PermissionRequest) string {
	var b strings.Builder
	remember, why := rememberAll(req)
	for i, one := range allOf(req) {
		fmt.Fprintf(&b, "Command %d of %d:\n\n%s%s", i+1, 1+len(req.With), commandText(one), reasonText(one))
		if len(remember) > rememberRunes { // the option cannot say all of it
			b.WriteString(alwaysText(one))
		}
	}
	b.WriteString(agentsText(req) + sandboxText(req))
	if remember == "" {
		b.WriteString(noAlwaysText(why))
	}
	return strings.TrimSpace(b.String())
}
