package pipeline

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"acp-agent/capability"
	"acp-agent/internal/pathname"
	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/workspace"
)

// confinement finds where the paths of a call lead, and keeps them within what the session,
// the agent and the tool may touch.
type confinement struct {
	*sharedState
	// scope is what the call may touch.
	scope capability.Compiled
	// checked has the target of each path at the capability check, by absolute path.
	checked map[string]string
	// outside are the reads outside the session's directories.
	outside []workspace.Access
	// links says, for the card, which paths to be changed lead elsewhere.
	links []string
}

// confine is the capability check: every path that the call names must lie where the session may
// work (R113). It runs before the rules, and no rule can allow what it refuses. A read outside is
// not refused: the user is asked.
func (c *confinement) confine(context.Context) (err error) {
	if c.scope, err = c.pipeline.scopeOf(c.Prepared); err != nil {
		return err
	}
	if err := c.refuseKeys(); err != nil {
		return err
	}
	written := 0
	c.checked = map[string]string{}
	for _, resource := range c.touched {
		switch resource.Kind {
		case tools.Host:
			err = c.confineHost(resource)
		case tools.Command:
			err = c.confineCommand(resource)
		case tools.PathRead:
			err = c.confinePath(resource)
		case tools.PathWrite:
			written++
			err = c.confinePath(resource)
		}
		if err != nil {
			return err
		}
	}
	if limit := c.pipeline.Limits.FilesPerCall; limit > 0 && written > limit {
		return tools.Errorf(tools.BadInput, "Too many files (%d). Maximum %d files per operation.", written, limit)
	}
	return nil
}

// confinePath checks one path and records where it leads.
func (c *confinement) confinePath(resource tools.Resource) error {
	access, err := c.check(resource)
	if err != nil {
		return err
	}
	c.noteLink(resource, access)
	c.checked[c.env.Abs(resource.Value)] = access.Real
	if !access.Inside {
		c.outside = append(c.outside, access)
		return nil
	}
	return c.checkScope(resource, access.Real)
}

// confineCommand refuses a command of a tool that did not declare commands, and one whose working
// directory is outside the roots.
func (c *confinement) confineCommand(resource tools.Resource) error {
	if !c.scope.Has(capability.CapShellRun) {
		return tools.Undeclared(c.Tool, "commands")
	}
	return c.confineDir(resource.Dir)
}

// check is the workspace's check of a path, with links followed unless the resource says NoFollow.
func (c *confinement) check(resource tools.Resource) (workspace.Access, error) {
	return c.pipeline.Workspace.CheckTarget(c.targets.of(c.env, resource), resource.Kind == tools.PathWrite)
}

// noteLink adds to the card that a path to be changed leads elsewhere by a link: the user must see
// where the change will be made (O1).
func (c *confinement) noteLink(resource tools.Resource, access workspace.Access) {
	if resource.Kind != tools.PathWrite {
		return
	}
	session := c.pipeline.Workspace.Session()
	plain := access.Path
	if rel, ok := pathname.Rel(session.Cwd, plain); ok {
		plain = filepath.Join(session.Roots[0], rel) // the session's own directory may be a link
	}
	if access.Real == plain {
		return
	}
	c.card.Locations = append(slices.Clip(c.card.Locations), kinds.Location{Path: access.Real})
	c.links = append(c.links, fmt.Sprintf("%s leads to %s", session.Rel(access.Path), access.Real))
}

// outsideReason is the question about a read outside, with the place where it leads (O1).
func outsideReason(access workspace.Access) string {
	if access.Real != access.Path {
		return fmt.Sprintf("%s leads to %s, which is outside the session's directories", access.Path, access.Real)
	}
	return access.Path + " is outside the session's directories"
}

// confineDir refuses a working directory outside the session's roots (R59). There is no question:
// opening a directory for reading would not bound what a command in it does.
func (c *confinement) confineDir(dir string) error {
	access, err := c.pipeline.Workspace.Check(dir, false)
	if err != nil {
		return err
	}
	if access.Inside && !access.Opened {
		return nil
	}
	return &tools.Error{
		Kind: tools.Denied, Path: access.Path, DeniedBy: tools.DeniedByCapability,
		Message: "the working directory " + access.Path + " is outside the session's directories",
		Hint:    "run the command in the working directory or an additional directory of this session",
	}
}

// confineHost refuses a host that the tool did not declare, and without a question an address that
// the tool's network refuses anyway.
func (c *confinement) confineHost(resource tools.Resource) error {
	if resource.Value != "" && !c.scope.Host(resource.Value) {
		return tools.Undeclared(c.Tool, "the host "+resource.Value)
	}
	if resource.URL == "" && resource.Value != "" {
		return nil
	}
	if net, ok := c.pipeline.Session.Net(c.Tool).(tools.AddressChecker); ok {
		return net.Check(resource.URL)
	}
	return nil
}

// outsideOpened reports whether answers have opened every path outside the roots since the
// capability check.
func (c *confinement) outsideOpened() bool {
	for _, access := range c.outside {
		again, err := c.pipeline.Workspace.Check(access.Path, false)
		if err != nil || !again.Inside {
			return false
		}
	}
	return true
}

// openOutside opens the paths outside the roots that the user has just allowed.
func (c *confinement) openOutside(forSession bool) {
	for _, access := range c.outside {
		c.pipeline.Workspace.Grant(c.ID, access, forSession)
	}
}
