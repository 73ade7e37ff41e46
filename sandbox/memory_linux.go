package sandbox

import (
	"fmt"
	"os"
	"strings"
)

// kernelState are the files that say which kernel runs since when, and whether it lets
// this user make namespaces and Landlock rules.
var kernelState = [...]string{
	"/proc/sys/kernel/random/boot_id",
	"/proc/version",
	"/proc/sys/user/max_user_namespaces",
	"/proc/sys/user/max_mnt_namespaces",
	"/proc/sys/user/max_net_namespaces",
	"/proc/sys/user/max_pid_namespaces",
	"/proc/sys/kernel/unprivileged_userns_clone",
	restrictionFile,
	"/proc/sys/kernel/apparmor_restrict_unprivileged_unconfined",
	"/sys/kernel/security/lsm",
	// What confines the agent itself: the profile that its parent has put it under.
	"/proc/self/attr/current",
}

// confinedBy are the lines of a process's status that say what it may still do.
var confinedBy = [...]string{"CapEff:", "CapBnd:", "NoNewPrivs:", "Seccomp:", "Seccomp_filters:"}

// writeMachine writes the state of kernel and container.
func writeMachine(b *strings.Builder) {
	writeFiles(b, kernelState[:]...)
	for _, space := range []string{"user", "mnt", "net", "pid"} {
		link, _ := os.Readlink("/proc/self/ns/" + space)
		fmt.Fprintln(b, link)
	}
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		for _, name := range confinedBy {
			if strings.HasPrefix(line, name) {
				b.WriteString(line)
			}
		}
	}
}
