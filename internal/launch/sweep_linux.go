package launch

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"
)

// sweep kills the processes that carry the cookie in their environment. It is
// for the case that the helper was killed and its orphans went to init. A
// process that is just loading a program shows no environment, so one look that
// finds nothing proves nothing.
func sweep(cookie string, _ int) {
	const (
		rounds = 100
		enough = 5 // looks in a row that find nothing
	)
	mark := []byte(cookieName + "=" + cookie)
	quiet := 0
	for round := 0; round < rounds && quiet < enough; round++ {
		quiet++
		for pid, p := range processes() {
			if !p.dead && carries(pid, mark) && syscall.Kill(pid, syscall.SIGKILL) == nil {
				quiet = 0
			}
		}
		time.Sleep(killPause)
	}
}

func carries(pid int, mark []byte) bool {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	return err == nil && bytes.Contains(env, mark)
}
