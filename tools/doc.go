// Package tools is the tool contract: what every tool publishes, what it is
// handed when it runs, and the registry that finds it.
//
// A tool is data plus one function. Its [Spec] carries what registry, pipeline
// and loop need to know of it: its names, its schema, what a call touches, and
// what may run beside it. (Kinds and titles stand in kinds, default rules in
// permissions, by the tool's id.) Its Run function sees only the typed [Runtime]
// it is handed, never os, os/exec or net/http, so capability checks, editor
// delegation and the test harness exist once, below all tools (R12).
//
//	type countArgs struct {
//		Pattern string `json:"pattern" jsonschema:"glob pattern"`
//	}
//
//	func newCount() tools.Tool {
//		return tools.Define(tools.Spec{ID: "count_files", Description: "Count files.", ReadOnly: true},
//			func(ctx context.Context, rt tools.Runtime, a countArgs) (*tools.Result, error) {
//				...
//				return tools.Output(map[string]int{"count": n}), nil
//			})
//	}
//
// It imports kinds, capability, transcript, internal/jsonscan, internal/search and the JSON schema
// library, and starts no goroutine. It knows neither the loop nor the permission
// rules nor ACP.
//
// # Requirements
//
// R1-R7, R11-R22, R100-R106, R8, R10, R60, R62, R74, R80, R84, R87, R95, R110-R112.
package tools
