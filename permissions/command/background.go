package command

// detaches reports the programs whose work goes on behind the back of the shell that
// started them: programs that take a command out of its session or its jobs, and programs
// that have a service run it.
func detaches(name string) bool {
	return hasWord("nohup setsid disown bg daemon daemonize start-stop-daemon at batch systemd-run tmux screen dtach abduco ssh-agent gpg-agent", name)
}

// detachFrom marks the parts that came since index from as running in the background.
func (pt *parts) detachFrom(from int) {
	for i := range pt.list[from:] {
		pt.list[from+i].Background = true
	}
}
