// Package capability describes what an agent and its tools may reach, as plain data.
//
// It owns the requirement set (paths, hosts, commands, named capabilities) with its
// union, the patterns for the arguments of a command, the variables
// that stand for the workspace, and the three actions of a rule. Compile turns a set
// into a Compiled value whose methods answer "is this path, host, argv inside?".
//
// It refuses to know tools, sessions, the disk and the protocol: paths arrive already
// absolute and resolved, and every answer is a pure function of its arguments.
// It imports the standard library and the glob matcher only, and starts no goroutines.
//
//	set := capability.RequirementSet{FS: capability.FS{Read: []string{"{workspace}/**"}}}
//	vars := capability.Vars{capability.VarWorkspace: {"/home/ann/project"}}
//	scope, err := capability.Compile(set, vars)
//	if err != nil {
//		return err // names the undefined variable
//	}
//	scope.Read("/home/ann/project/main.go") // true
//	scope.Read("/home/ann/projects")        // false
//
// # Requirements
//
// R110 (requirement set and argument patterns), R111 (variables), R112 (union of sets,
// intersection of compiled ones), R114 (the actions of a rule).
package capability
