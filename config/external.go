package config

// External is what else the agent is connected to.
type External struct {
	// ToolProviders are programs and addresses that list and execute tools, by name (R94).
	// Each is judged when it is used, so that a broken one harms no other.
	ToolProviders map[string]ToolProvider `json:"toolProviders"`
}

// ToolProvider is an external provider of tools.
type ToolProvider struct {
	// Type is "stdio" or "http".
	Type string `json:"type"`
	// Command is the program of a stdio provider, Args what follows it, Env variables that
	// it has beside the short list of every program. Network is what it reaches; the zero value is nothing.
	Command string          `json:"command"`
	Args    []string        `json:"args"`
	Env     Environment     `json:"env"`
	Network ProviderNetwork `json:"network"`
	// URL is the address of an http provider. Headers are sent with each request; their
	// values are as those of Env.
	URL     string      `json:"url"`
	Headers Environment `json:"headers"`
}

// ProviderNetwork is what the program of a provider reaches: the hosts of a list, or all of the network with true or
// MCPNetworkOpen.
type ProviderNetwork struct{ MCPNetwork }

// Open reports whether the program has the whole network.
func (n ProviderNetwork) Open() bool { return n.Access == MCPNetworkOpen }

// turn implements switchable.
func (n *ProviderNetwork) turn(on bool) {
	if on {
		n.Access = MCPNetworkOpen
	}
}

func (f *file) checkExternal(e External) error {
	for _, name := range sortedKeys(e.ToolProviders) {
		p, field := e.ToolProviders[name], "external.toolProviders."+name
		if err := f.checkEnvironment(field+".env", p.Env); err != nil {
			return err
		}
		network := field + ".network"
		if p.Command == "" && !p.Network.zero() {
			return f.errorf(network, "is for a provider with a command")
		}
		if p.Network.Access != "" && !p.Network.Open() {
			return f.errorf(network, "expects a list of hosts, true or \"open\", found %q", p.Network.Access)
		}
		if err := f.checkHosts(network, p.Network.Hosts); err != nil {
			return err
		}
		for _, header := range sortedKeys(p.Headers) {
			at := field + ".headers." + header
			if !isHeaderName(header) {
				return f.errorf(at, "is no valid name of an HTTP header")
			}
			if err := f.checkHeaderValue(at, p.Headers[header]); err != nil {
				return err
			}
		}
	}
	return nil
}

// loadExternal takes the values that come from the environment.
func (s Sources) loadExternal(e *External) {
	for name, p := range e.ToolProviders {
		p.Env, p.Headers = s.expand(p.Env), s.expand(p.Headers)
		e.ToolProviders[name] = p
	}
}

// keys are the values whose names say that they are secret.
func (e External) keys() []string {
	var keys []string
	for _, name := range sortedKeys(e.ToolProviders) {
		keys = append(append(keys, e.ToolProviders[name].Env.keys()...), e.ToolProviders[name].Headers.keys()...)
	}
	return keys
}
