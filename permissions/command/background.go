package command

// detaches reports whether a program's work outlives the shell that started it: the program takes a command
// out of its session or its jobs, or a service runs the command.
func detaches(name string) bool {
	return hasWord("nohup setsid disown bg daemon daemonize start-stop-daemon at batch systemd-run tmux screen dtach abduco ssh-agent gpg-agent", name)
}
