package pipeline

import "acp-agent/tools"

// refuseKeys refuses a call of a tool with network access whose arguments hold a key of the agent's
// configuration: the key would be sent in an address or a search. There is no question, because no
// task needs it.
func (c *confinement) refuseKeys() error {
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

// holdsKey reports whether a JSON value holds a key; validate has bounded its depth.
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
