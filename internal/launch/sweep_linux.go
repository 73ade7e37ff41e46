package launch

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"
)

// sweep kills the processes that carry the cookie in their environment. It is
// for the case that the helper was killed and its orphans went to init.
func sweep(cookie string, _ int) {
	const rounds = 50
	mark := []byte(cookieName + "=" + cookie)
	for range rounds {
		marked := 0
		for pid, p := range processes() {
			if p.dead || !carries(pid, mark) {
				continue
			}
			if syscall.Kill(pid, syscall.SIGKILL) == nil {
				marked++
			}
		}
		if marked == 0 {
			return
		}
		time.Sleep(killPause)
	}
}

func carries(pid int, mark []byte) bool {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	return err == nil && bytes.Contains(env, mark)
}
