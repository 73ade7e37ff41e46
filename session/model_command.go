package session

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"acp-agent/transcript"
)

// listedModels bounds how many models /model lists.
const listedModels = 60

// modelCommand is /model: it lists the models, or switches to one of them, as the config
// option does in editors that show that. set changes an option.
func modelCommand(options []Option, set func(option, value string) error, emit func(transcript.Event), id string) string {
	at := slices.IndexFunc(options, func(o Option) bool { return o.ID == ModelOption })
	models := options[at]
	if id == "" {
		return listModels(models)
	}
	id = pickModel(models.Values, id)
	if id == models.Current {
		return fmt.Sprintf("The model is %s already.\n", code(id))
	}
	if !slices.ContainsFunc(models.Values, func(v Value) bool { return v.ID == id }) {
		return fmt.Sprintf("There is no model %s here. `/model` lists the models.\n", code(id))
	}
	if err := set(ModelOption, id); err != nil {
		return "The model stays as it is: " + err.Error() + ".\n"
	}
	emit(transcript.OptionsChanged{})
	return fmt.Sprintf("The model is %s from your next message on.\n", code(id))
}

// pickModel is the id of the model that a word names: its id, its name, or a part of the id
// that no other one has.
func pickModel(models []Value, word string) string {
	var parts []string
	for _, m := range models {
		if m.ID == word || strings.EqualFold(m.Name, word) {
			return m.ID
		}
		if strings.Contains(strings.ToLower(m.ID), strings.ToLower(word)) {
			parts = append(parts, m.ID)
		}
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return word
}

func listModels(models Option) string {
	var b strings.Builder
	b.WriteString("**Models**\n\n")
	for i, m := range models.Values {
		if i == listedModels {
			fmt.Fprintf(&b, "- and %d more\n", len(models.Values)-i)
			break
		}
		fmt.Fprintf(&b, "- %s", code(m.ID))
		if name := cmp.Or(m.Description, m.Name); name != m.ID {
			fmt.Fprintf(&b, ": %s", code(name))
		}
		if m.ID == models.Current {
			b.WriteString(" (in use)")
		}
		b.WriteString("\n")
	}
	b.WriteString("\n`/model NAME` switches to one; a part of the name is enough where only one has it.\n")
	return b.String()
}
