package command

// detaches reports a program whose work outlives the shell that started it: it takes a command out of the
// session or the jobs of the shell, or has a service run it.
func detaches(name string) bool {
	return hasWord("nohup setsid disown bg daemon daemonize start-stop-daemon at batch systemd-run tmux screen dtach abduco ssh-agent gpg-agent", name)
}
