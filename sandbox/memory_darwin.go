package sandbox

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// writeMachine writes the start and the version of the system, and whether the agent
// runs in a sandbox itself, which holds no other.
func writeMachine(b *strings.Builder) {
	for _, name := range []string{"kern.bootsessionuuid", "kern.osversion", "kern.version"} {
		value, _ := unix.Sysctl(name) // else it counts as empty
		fmt.Fprintln(b, value)
	}
	fmt.Fprintln(b, os.Getenv("APP_SANDBOX_CONTAINER_ID"))
}
