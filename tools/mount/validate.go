package mount

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"acp-agent/tools"
)

// ValidateOptions say how far Validate goes.
type ValidateOptions struct {
	Options
	// Check lists the rules of the tool contract that a built-in tool breaks;
	// tools/tooltest has it. nil means that they are not looked at.
	Check func(tools.Tool) []string
	// Runtime gives the runtime of one call, in which a module is really executed
	// with faulty arguments. nil means that nothing is executed.
	Runtime func(callID, tool string) (rt tools.Runtime, finish func())
}

// planNames are the files that make a directory one with a mount plan.
func planNames() []string {
	var names []string
	for _, base := range []string{"mount", "plan"} {
		for _, ext := range planEndings() {
			names = append(names, base+ext)
		}
	}
	return names
}

func planEndings() []string { return []string{".yaml", ".yml", ".json", ".jsonc"} }

// Validate checks a module, a mount plan or a script of a toolbox (R164). target is
// a directory that holds tool.json or a plan, the file of a plan, or the script. A
// module is mounted, and unmounted again, as in the agent.
func Validate(ctx context.Context, target string, o ValidateOptions) Report {
	v := &validation{o: o}
	v.o.Toolbox.Dirs, v.o.Toolbox.Usual = nil, nil
	if file, ok := scriptPath(target); ok {
		v.o.Toolbox.files = []string{file}
		v.mounting(ctx, nil, Plan{{Module: file}})
		return v.Report
	}
	plan, err := v.plan(target)
	v.verdict("plan", err)
	if err == nil {
		v.mounting(ctx, plan, plan)
	}
	return v.Report
}

// scriptPath is the absolute path of a target, links resolved, that is a script of a
// toolbox: an executable whose name is not one of a plan.
func scriptPath(target string) (file string, ok bool) {
	file, err := filepath.Abs(target)
	if err != nil {
		return "", false
	}
	if file, err = filepath.EvalSymlinks(file); err != nil {
		return "", false
	}
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || slices.Contains(planEndings(), filepath.Ext(file)) {
		return "", false
	}
	return file, isExecutable(filepath.Base(file), info)
}

type validation struct {
	Report
	o ValidateOptions
}

// plan finds the plan of a target; for a module's directory it makes one.
func (v *validation) plan(target string) (Plan, error) {
	abs, err := filepath.Abs(target)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(abs)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("there is no file or directory %s", abs)
	case err != nil:
		return nil, err
	case !info.IsDir():
		return v.read(abs)
	}
	if _, err := os.Stat(filepath.Join(abs, manifestName)); err == nil {
		return Plan{{Module: moduleOf(abs), Source: "file:" + abs}}, nil
	}
	for _, name := range planNames() {
		if _, err := os.Stat(filepath.Join(abs, name)); err == nil {
			return v.read(filepath.Join(abs, name))
		}
	}
	return nil, fmt.Errorf("%s holds neither %s nor a mount plan (%s)", abs, manifestName, strings.Join(planNames(), ", "))
}

func (v *validation) read(path string) (Plan, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxPlan+1)) // a device may have no end
	if err != nil {
		return nil, err
	}
	v.o.Dir = filepath.Dir(path)
	plan, err := ParsePlan(data, path)
	if err == nil && len(plan) == 0 {
		err = fmt.Errorf("%s names no modules", path)
	}
	return plan, err
}

// moduleOf is a module name for a directory; the directory's own name may be
// anything.
func moduleOf(dir string) string {
	name := strings.ToLower(filepath.Base(dir))
	if !moduleName(name) {
		return "module"
	}
	return name
}

// mounting mounts a plan, with the scripts of the options, and looks at what became of
// each of the modules.
func (v *validation) mounting(ctx context.Context, plan, modules Plan) {
	m := Run(ctx, plan, v.o.Options)
	for _, entry := range modules {
		name := entry.Module + ": mount"
		failures := m.failuresOf(entry)
		for _, failure := range failures {
			v.fail(name, "%v", failure.Err)
		}
		if len(failures) > 0 {
			continue
		}
		v.pass(name, "")
		mine := m.toolsOf(entry.Module)
		if len(mine) == 0 {
			v.warn(name, "it mounts no tool")
		}
		for _, tool := range mine {
			v.tool(ctx, tool)
		}
		if events := m.eventsOf(entry.Module); len(events) > 0 {
			v.pass(entry.Module+": events", strings.Join(events, ", "))
		} else if entry.Source != "" && entry.Source != builtinSource {
			v.warn(entry.Module+": events", "it registers none on "+EventsChannel)
		}
	}
	v.verdict("cleanup", m.Close())
}

// failuresOf, toolsOf and eventsOf are what became of one entry of the plan.
func (m *Mounting) failuresOf(entry Entry) []Failure {
	return slices.DeleteFunc(m.Failures(), func(f Failure) bool { return f.Module != entry.Module || f.At != entry.At })
}

func (m *Mounting) toolsOf(module string) []tools.Tool {
	shared := m.coordinator.shared
	shared.mu.Lock()
	defer shared.mu.Unlock()
	var list []tools.Tool
	for _, t := range shared.tools {
		if t.module == module {
			list = append(list, t.Tool)
		}
	}
	return list
}

func (m *Mounting) eventsOf(module string) []string {
	return m.coordinator.contributions(EventsChannel, func(c contributor) bool { return c.owner == module })
}

// tool checks what every tool must have. Mounting has refused what is broken;
// here each rule is named, so that the list shows what was looked at.
func (v *validation) tool(ctx context.Context, tool tools.Tool) {
	v.pass(tool.ID+": name", "snake_case and unique")
	v.pass(tool.ID+": description", fmt.Sprintf("%d bytes", len(tool.Description)))
	schema, err := json.Marshal(tool.Parameters)
	v.verdict(tool.ID+": schema", err)
	if tool.Parameters == nil || len(tool.Parameters.Properties) == 0 {
		v.warn(tool.ID+": arguments", "it takes none: "+string(schema))
	}
	if tool.Source.Kind == tools.Module || tool.Source.Kind == tools.Toolbox {
		v.badInput(ctx, tool)
		return
	}
	if v.o.Check != nil {
		problems := v.o.Check(tool)
		for _, problem := range problems {
			v.fail(tool.ID+": contract", "%s", problem)
		}
		if len(problems) == 0 {
			v.pass(tool.ID+": contract", "errors are handled")
		}
	}
}
