// Package watchdog judges tool calls once more before they run, behind the rules.
//
// It owns what a watchdog sees of a call ([Call]), the built-in policies by name
// ([Policies]), the question and the answer that an external one is spoken to with
// ([External]), and what holds when there are several ([All]): the strictest answer. A
// watchdog only narrows. It never sees what the capability check refused, and its allow
// lifts no question and no denial of the rules.
//
// It refuses to know how a program is started: [External] is handed a function for that.
// The built-in policies are pure, and take commands apart on their own: they do not trust
// what the rules made of them. The package imports permissions, permissions/command and
// capability, and starts no goroutines.
//
//	policy, _ := watchdog.Policies()["no-network"]
//	dogs := watchdog.All{policy, watchdog.External{Name: "guard", Run: run, Timeout: 5 * time.Second}}
//	d, err := dogs.Judge(ctx, call)
//	// An error is a denial: the caller must not run the call.
//
// # Requirements
//
// R121 (a hook before every call that only narrows, its failure a denial; the reference
// policy for commands). docs/security.md E1 (what the model says of its call is not an input), E4.
package watchdog
