package sandbox

import "golang.org/x/sys/unix"

// refusedHere are system calls that not every kind of machine has.
var refusedHere = [...]uint32{unix.SYS_KEXEC_FILE_LOAD, unix.SYS_LOOKUP_DCOOKIE}
