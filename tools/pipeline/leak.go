package pipeline

import "acp-agent/tools"

// confineKeys refuses a call of a tool with the network whose arguments hold a key of
// the agent's configuration: it would be sent in an address or a search. Nothing is
// asked, because no task needs it.
func (c *confinement) confineKeys() error {
	if c.entry.Requires.Net.IsZero() || c.entry.Foreign() || c.pipeline.Keys.Empty() {
		return nil
	}
	args, err := c.args.Value()
	if err != nil || !c.holdsKey(args) {
		return nil
	}
	return &tools.Error{
		Kind: tools.Denied, DeniedBy: tools.DeniedByCapability,
		Message: c.Tool + ": the arguments hold a key of the agent's configuration, which is not sent anywhere",
	}
}

// holdsKey looks through the texts of a JSON value, which validate has bounded in depth.
func (c *confinement) holdsKey(value any) bool {
	switch value := value.(type) {
	case string:
		return c.pipeline.Keys.Hides(value)
	case []any:
		for _, v := range value {
			if c.holdsKey(v) {
				return true
			}
		}
	case map[string]any:
		for name, v := range value {
			if c.pipeline.Keys.Hides(name) || c.holdsKey(v) {
				return true
			}
		}
	}
	return false
}
