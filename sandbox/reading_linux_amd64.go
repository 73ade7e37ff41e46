package sandbox

import "golang.org/x/sys/unix"

// changingHere are the calls that change something which not every kind of machine has.
var changingHere = [...]uint32{
	unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT,
}

// openHere looks at the older calls that open a file. A file that creat cuts is opened
// for writing.
func openHere(f *filter) { f.onCall(unix.SYS_OPEN, 1, cutting) }
