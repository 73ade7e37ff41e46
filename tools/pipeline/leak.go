package pipeline

import "acp-agent/tools"

// confineKeys refuses a call of a tool with the network whose arguments hold a key of
// the agent's configuration: it would be sent in an address or a search. Nothing is
// asked, because no task needs it.
func (r *running) confineKeys() error {
	if r.entry.Requires.Net.IsZero() || r.entry.Foreign() || r.pipeline.Keys.Empty() {
		return nil
	}
	args, err := r.args.Value()
	if err != nil || !r.holdsKey(args) {
		return nil
	}
	return &tools.Error{
		Kind: tools.Denied, DeniedBy: tools.DeniedByCapability,
		Message: r.Tool + ": the arguments hold a key of the agent's configuration, which is not sent anywhere",
	}
}

// holdsKey looks through the texts of a JSON value, which validate has bounded in depth.
func (r *running) holdsKey(value any) bool {
	switch value := value.(type) {
	case string:
		return r.pipeline.Keys.Hides(value)
	case []any:
		for _, v := range value {
			if r.holdsKey(v) {
				return true
			}
		}
	case map[string]any:
		for name, v := range value {
			if r.pipeline.Keys.Hides(name) || r.holdsKey(v) {
				return true
			}
		}
	}
	return false
}
