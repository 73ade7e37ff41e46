package mount

import (
	"fmt"
	"strings"
)

// Report is what Validate found out (R164).
type Report struct {
	Checks []Check
}

// Check is one thing that was looked at.
type Check struct {
	// Name says what, such as "count_files: schema".
	Name string
	OK   bool
	// Warning marks a check that did not pass but does no harm; OK is true then.
	Warning bool
	// Detail says what was found; may be empty.
	Detail string
}

// OK reports whether every check passed.
func (r Report) OK() bool {
	for _, check := range r.Checks {
		if !check.OK {
			return false
		}
	}
	return len(r.Checks) > 0
}

// String lists the checks, one a line.
func (r Report) String() string {
	var b strings.Builder
	for _, check := range r.Checks {
		b.WriteString(check.String() + "\n")
	}
	return b.String()
}

// String is the check in one line.
func (c Check) String() string {
	mark := "ok  "
	switch {
	case !c.OK:
		mark = "FAIL"
	case c.Warning:
		mark = "warn"
	}
	if c.Detail == "" {
		return mark + " " + c.Name
	}
	return mark + " " + c.Name + ": " + strings.ReplaceAll(c.Detail, "\n", "; ")
}

func (r *Report) pass(name, detail string) { r.add(Check{Name: name, OK: true, Detail: detail}) }
func (r *Report) warn(name, detail string) {
	r.add(Check{Name: name, OK: true, Warning: true, Detail: detail})
}

func (r *Report) fail(name, format string, args ...any) {
	r.add(Check{Name: name, Detail: fmt.Sprintf(format, args...)})
}

func (r *Report) add(c Check) { r.Checks = append(r.Checks, c) }

// verdict adds one check that passes when there is no problem.
func (r *Report) verdict(name string, err error) {
	if err != nil {
		r.fail(name, "%v", err)
		return
	}
	r.pass(name, "")
}
