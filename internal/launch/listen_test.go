package launch

import (
	"fmt"
	"net"
	"os"
	"time"
)

// testListen opens a socket and keeps it until it is killed. It prints its process and the port.
func testListen() int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(os.Getpid(), l.Addr().(*net.TCPAddr).Port)
	time.Sleep(time.Minute)
	return 0
}
