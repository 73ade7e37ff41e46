package tools

import "fmt"

// What a denial came from, as Error.DeniedBy says it (R125). What the rules
// deny is named by the permissions.
const (
	DeniedByUser       = "user"       // the person
	DeniedByCapability = "capability" // beyond what a tool declares or a session holds
	DeniedByEnablement = "enablement" // the tool is switched off
	DeniedByWatchdog   = "watchdog"
	DeniedByNetwork    = "network" // an address that is not for tools
)

// Undeclared refuses what a tool tries beyond its own requirements: a fault of
// the tool, whoever wrote it.
func Undeclared(tool, what string) *Error {
	return &Error{
		Kind: Denied, DeniedBy: DeniedByCapability,
		Message: fmt.Sprintf("%s did not declare that it needs %s, so it was refused", tool, what),
		Hint:    "whoever wrote the tool has to add it to what the tool requires",
	}
}
