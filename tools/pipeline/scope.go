package pipeline

import (
	"acp-agent/capability"
	"acp-agent/tools"
)

// Ceiling is what this host grants at most, whatever tools and manifests
// declare (R112): the session's directories, its private one, what the user
// opened beside them, any host (the network rules hold besides), and commands
// (each is judged).
func Ceiling() capability.RequirementSet {
	dirs := []string{"{" + capability.VarWorkspace + "}", "{" + capability.VarAdHoc + "}"}
	return capability.RequirementSet{
		FS: capability.FS{Read: dirs, Write: dirs[:1]}, Net: capability.Net{Hosts: []string{"*"}},
		Capabilities: []string{capability.CapShellRun},
	}
}

// scopeOf is what one call may touch: what its tool declares, within what the
// agent as a whole may (R112), with the variables as they are now (R111).
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

// effective is host ceiling ∩ declared, and what each agent declared that delegated to
// this one (R64, R112). What the user opened beside the roots is this agent's alone.
func (p *Pipeline) effective(vars capability.Vars) (capability.Compiled, error) {
	host := Ceiling()
	if policy := p.readOnly(); policy != nil {
		host.FS.Write = policy.writable()
	}
	// Any program that is declared: what it does is for the rules and the sandbox.
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

// declare notes the union of what the manifest and every tool require; of a subagent,
// every tool that it has.
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

// Declared is what the manifest and every tool require, in one set (R112).
func (p *Pipeline) Declared() capability.RequirementSet { return *p.declared.Load() }

// CheckVariables reports a variable that something declares and no one
// defined, so that a session fails loudly when it is opened (R111).
func (p *Pipeline) CheckVariables() error {
	_, err := p.effective(p.vars(""))
	return err
}

func (p *Pipeline) vars(callID string) capability.Vars {
	vars := p.Workspace.Vars(callID)
	vars[capability.VarUserData] = p.UserData
	return vars
}

// within checks a path that a call names against its tool's scope.
func (c *confinement) within(resource tools.Resource, real string) error {
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
