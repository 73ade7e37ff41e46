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

// confine is the capability check: every path a call names must lie where the
// session may work (R113). It runs before any rule is looked at, and no
// rule lifts what it refuses. A read outside is not refused but asked about.
func (r *running) confine(context.Context) (err error) {
	if r.scope, err = r.pipeline.scopeOf(r.Prepared); err != nil {
		return err
	}
	if err := r.confineKeys(); err != nil {
		return err
	}
	written := 0
	r.found = map[string]string{}
	for _, resource := range r.touched {
		if resource.Kind == tools.Host {
			if err := r.confineHost(resource); err != nil {
				return err
			}
			continue
		}
		if !isPath(resource) {
			if resource.Kind == tools.Command {
				if !r.scope.Has(capability.CapShellRun) {
					return tools.Undeclared(r.Tool, "commands")
				}
				if err := r.confineDir(resource.Dir); err != nil {
					return err
				}
			}
			continue
		}
		access, err := r.check(resource)
		if err != nil {
			return err
		}
		r.noteLink(resource, access)
		r.found[r.env.Abs(resource.Value)] = access.Real
		if !access.Inside {
			r.outside = append(r.outside, access)
		} else if err := r.within(resource, access.Real); err != nil {
			return err
		}
		if resource.Kind == tools.PathWrite {
			written++
		}
	}
	if limit := r.pipeline.Limits.FilesPerCall; limit > 0 && written > limit {
		return tools.Errorf(tools.BadInput, "Too many files (%d). Maximum %d files per operation.", written, limit)
	}
	return nil
}

// check is the workspace's check of a path, or of a name that is not followed.
func (r *running) check(resource tools.Resource) (workspace.Access, error) {
	return r.pipeline.Workspace.CheckTarget(r.targets.of(r.env, resource), resource.Kind == tools.PathWrite)
}

// noteLink remembers that a path which is to be changed leads elsewhere by a
// link: the user must see where the change will really be (O1).
func (r *running) noteLink(resource tools.Resource, access workspace.Access) {
	if resource.Kind != tools.PathWrite {
		return
	}
	session := r.pipeline.Workspace.Session()
	plain := access.Path
	if rel, ok := pathname.Rel(session.Cwd, plain); ok {
		plain = filepath.Join(session.Roots[0], rel) // the directory may have come by a link itself
	}
	if access.Real == plain {
		return
	}
	r.card.Locations = append(slices.Clip(r.card.Locations), kinds.Location{Path: access.Real})
	r.links = append(r.links, fmt.Sprintf("%s leads to %s", session.Rel(access.Path), access.Real))
}

// outsideReason says why a read is asked about, and where it would really be (O1).
func outsideReason(access workspace.Access) string {
	if access.Real != access.Path {
		return fmt.Sprintf("%s leads to %s, which is outside the session's directories", access.Path, access.Real)
	}
	return access.Path + " is outside the session's directories"
}

// confineDir refuses a working directory outside the session's roots (R59). It
// is not asked about: a command's reach is not a directory's.
func (r *running) confineDir(dir string) error {
	access, err := r.pipeline.Workspace.Check(dir, false)
	if err != nil {
		return err
	}
	if access.Inside {
		return nil
	}
	return &tools.Error{
		Kind: tools.Denied, Path: access.Path, DeniedBy: tools.DeniedByCapability,
		Message: "the working directory " + access.Path + " is outside the session's directories",
		Hint:    "run the command in the working directory or an additional directory of this session",
	}
}

// confineHost refuses a host that the tool did not declare, and an address that its
// network would refuse in any case: there is nothing to ask about.
func (r *running) confineHost(resource tools.Resource) error {
	if resource.Value != "" && !r.scope.Host(resource.Value) {
		return tools.Undeclared(r.Tool, "the host "+resource.Value)
	}
	if resource.URL == "" && resource.Value != "" {
		return nil
	}
	if net, ok := r.pipeline.Session.Net(r.Tool).(tools.AddressChecker); ok {
		return net.Check(resource.URL)
	}
	return nil
}

// grant opens what an answer of the user allowed outside the roots.
func (r *running) grant(forSession bool) {
	for _, access := range r.outside {
		r.pipeline.Workspace.Grant(r.ID, access, forSession)
	}
}
