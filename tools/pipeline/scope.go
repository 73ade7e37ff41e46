package pipeline

import (
	"acp-agent/capability"
	"acp-agent/tools"
)

// Ceiling returns the most that this host grants, whatever tools and manifests declare (R112): the
// session's directories, its private directory, what the user opened in addition, any host (network
// rules apply as well), and commands (each is judged).
func Ceiling() capability.RequirementSet {
	dirs := []string{"{" + capability.VarWorkspace + "}", "{" + capability.VarAdHoc + "}"}
	return capability.RequirementSet{
		FS: capability.FS{Read: dirs, Write: dirs[:1]}, Net: capability.Net{Hosts: []string{"*"}},
		Capabilities: []string{capability.CapShellRun},
	}
}

// scopeOf returns what one call may touch: what its tool declares and the whole agent may (R112), with
// the current values of the variables (R111).
func (p *Pipeline) scopeOf(c *Prepared) (capability.Compiled, error) {
	vars := p.vars(c.ID)
	own, err := capability.Compile(c.entry.Requires, vars)
	if err != nil {
		return capability.Compiled{}, &tools.Error{
			Kind: tools.Denied, DeniedBy: tools.DeniedByCapability, Message: c.Tool + ": " + err.Error(), Err: err,
		}
	}
	effective, err := p.effective(vars)
	return own.And(effective), err
}

// effective returns the host ceiling ∩ what this agent declares ∩ what each agent above it declares
// (R64, R112). Paths that the user opened outside the roots are for this agent only. It changes vars: {user-data}
// stands for other directories in each agent.
func (p *Pipeline) effective(vars capability.Vars) (capability.Compiled, error) {
	host := Ceiling()
	if policy := p.readOnly(); policy != nil {
		host.FS.Write = policy.writable()
	}
	// Any declared program: rules and sandbox decide what it may do.
	host.Shell = p.Declared().Shell
	ceiling, err := capability.Compile(host, vars)
	if err != nil {
		return capability.Compiled{}, err
	}
	for q := p; q != nil; q = q.Parent {
		vars[capability.VarUserData] = q.UserData
		declared, err := capability.Compile(q.Declared(), vars)
		if err != nil {
			return capability.Compiled{}, err
		}
		ceiling = ceiling.And(declared)
	}
	return ceiling, nil
}

// declare stores the union of what the manifest and all tools require; for a subagent, all tools
// that it has.
func (p *Pipeline) declare(enabled []*tools.Entry) {
	declared := p.Requires
	if p.Parent == nil {
		declared = capability.Union(declared, p.Tools().Requires())
	} else {
		for _, entry := range enabled {
			declared = capability.Union(declared, entry.Requires)
		}
	}
	p.declared.Store(&declared)
}

// Declared returns what the manifest and the tools require, in one set (R112).
func (p *Pipeline) Declared() capability.RequirementSet { return *p.declared.Load() }

// CheckVariables returns an error for a variable that is used but not defined, so that a session
// fails when it is opened (R111).
func (p *Pipeline) CheckVariables() error {
	_, err := p.effective(p.vars(""))
	return err
}

func (p *Pipeline) vars(callID string) capability.Vars {
	vars := p.Workspace.Vars(callID)
	vars[capability.VarUserData] = p.UserData
	return vars
}

// checkScope checks a path that the call names against the scope of its tool.
func (c *confinement) checkScope(resource tools.Resource, real string) error {
	allowed := c.scope.Read(real)
	verb := "read"
	if resource.Kind == tools.PathWrite {
		allowed, verb = c.scope.Write(real), "write"
	}
	if allowed {
		return nil
	}
	if policy := c.pipeline.readOnly(); policy != nil && resource.Kind == tools.PathWrite {
		return policy.refusal(real + " is not written")
	}
	return tools.Undeclared(c.Tool, "to "+verb+" "+real)
}
