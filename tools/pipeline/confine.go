package pipeline

import (
	"context"

	"acp-agent/tools"
)

// confine is the capability check: every path a call names must lie where the
// session may work (R113, C-29). It runs before any rule is looked at, and no
// rule lifts what it refuses. A read outside is not refused but asked about.
func (r *running) confine(context.Context) (err error) {
	if r.scope, err = r.pipeline.scopeOf(r.Prepared); err != nil {
		return err
	}
	written := 0
	for _, resource := range r.resources() {
		if resource.Kind == tools.Host && !r.scope.Host(resource.Value) {
			return undeclared(r.Tool, "the host "+resource.Value)
		}
		if resource.Kind != tools.PathRead && resource.Kind != tools.PathWrite {
			if resource.Kind == tools.Command {
				if err := r.confineDir(resource.Dir); err != nil {
					return err
				}
			}
			continue
		}
		access, err := r.pipeline.Workspace.Check(resource.Value, resource.Kind == tools.PathWrite)
		if err != nil {
			return err
		}
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
		Kind: tools.Denied, Path: access.Path, DeniedBy: "capability",
		Message: "the working directory " + access.Path + " is outside the session's directories",
		Hint:    "run the command in the working directory or an additional directory of this session",
	}
}

func (r *running) resources() []tools.Resource {
	if r.entry.Resources == nil {
		return nil
	}
	return r.entry.Resources(r.Args, r.env)
}

// grant opens what an answer of the person allowed outside the roots.
func (r *running) grant(forSession bool) {
	for _, access := range r.outside {
		r.pipeline.Workspace.Grant(r.ID, access, forSession)
	}
}
