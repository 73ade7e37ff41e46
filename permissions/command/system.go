package command

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"acp-agent/internal/pathname"
)

// device finds DN2: a command that writes to a raw device or changes a file system as a whole.
func (d *denial) device(s simple) finding {
	name := s.name()
	if strings.HasPrefix(name, "mkfs") || strings.HasPrefix(name, "newfs") {
		return denies(RawDevice, name+" makes a new file system over what is there")
	}
	switch name {
	case "wipefs", "blkdiscard", "sgdisk", "fdisk", "sfdisk", "cfdisk", "gdisk", "parted", "hdparm", "nvme", "badblocks", "cryptsetup", "pvcreate", "vgremove", "lvremove", "zpool", "mke2fs":
		if hasFlag(s, "", "--help", "--version") || hasAnyArg(s, "-l") {
			return finding{}
		}
		return denies(RawDevice, name+" changes disks below their files")
	case "diskutil":
		if sub := strings.ToLower(subcommand(s)); strings.HasPrefix(sub, "erase") || strings.HasPrefix(sub, "partition") || sub == "zerodisk" || sub == "secureerase" {
			return denies(RawDevice, "diskutil "+sub+" destroys a file system")
		}
	}
	for _, w := range filesWritten(s) {
		if f := rawDevice(w.value); f.set {
			return f
		}
	}
	return finding{}
}

// rawDevice denies writing to a device that stores something.
func rawDevice(name string) finding {
	rest, ok := strings.CutPrefix(name, "/dev/")
	if !ok || rest == "" {
		return finding{}
	}
	switch rest {
	case "null", "zero", "full", "random", "urandom", "stdin", "stdout", "stderr", "tty", "ptmx":
		return finding{}
	}
	for _, dir := range []string{"fd/", "pts/", "shm/", "mqueue/", "tcp/", "udp/"} {
		if strings.HasPrefix(rest, dir) {
			return finding{}
		}
	}
	return denies(RawDevice, "the raw device "+strings.ReplaceAll(name, unknown, "…")+" would be overwritten")
}

// privilege finds DN5: a command that runs with, or gives, other privileges.
func privilege(s simple) finding {
	name := s.name()
	switch name {
	case "sudo", "su", "doas", "pkexec", "runas", "sudoedit", "visudo", "gosu", "su-exec", "run0",
		"setcap", "capsh", "setpriv", "usermod", "useradd", "adduser", "groupmod", "gpasswd", "passwd", "chpasswd", "vipw", "nsenter", "dseditgroup", "sysadminctl", "gsudo":
		return denies(Privilege, name+" changes privileges")
	case "chmod", "install":
		for _, w := range s.args() {
			if setsID(w.value) {
				return denies(Privilege, name+" "+w.String()+" gives a program its owner's privileges")
			}
		}
	}
	for _, w := range filesWritten(s) {
		if f := accountFile(w.value); f.set {
			return f
		}
	}
	return finding{}
}

// idMode matches a clause of a mode that sets the setuid or setgid bit: 4755, =2755, u+s, u-w+s, g=u+s.
var idMode = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(([ugoa]*[+=])?[0-7]*[2-7][0-7]{3}|[ugoa]*([-+=][rwxXstugo]*)*[+=][rwxXtugo]*s[rwxXstugo]*([-+=][rwxXstugo]*)*)$`)
})

// setsID reports an argument of chmod or install that sets the setuid or setgid bit: a mode, or an option
// that holds one (-Dm4755, --mode=u+s).
func setsID(arg string) bool {
	modes := []string{arg}
	switch name, value, _ := strings.Cut(arg, "="); {
	case len(name) > 2 && strings.HasPrefix("--mode", name):
		modes = append(modes, value)
	case strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--"):
		_, value, _ = strings.Cut(arg, "m")
		modes = append(modes, value)
	}
	return slices.ContainsFunc(modes, func(mode string) bool {
		return slices.ContainsFunc(strings.Split(mode, ","), idMode().MatchString)
	})
}

// accountFile denies writing a file that decides about accounts and privileges.
func accountFile(name string) finding {
	for _, f := range []string{"/etc/sudoers", "/etc/passwd", "/etc/shadow", "/etc/group", "/etc/gshadow", "/etc/pam.d", "/etc/doas.conf", "/etc/sudoers.d"} {
		if pathname.Contains(f, name) {
			return denies(Privilege, name+" decides who may do what")
		}
	}
	return finding{}
}

// power finds DN6: a command that changes the power state, or ends every process or the agent.
func power(s simple) finding {
	name := s.name()
	switch name {
	case "shutdown", "reboot", "halt", "poweroff", "telinit", "killall5":
		return denies(PowerState, name+" ends more than the command")
	case "init":
		if len(s.argv) == 2 && hasWord("0 1 5 6 s S", s.argv[1]) {
			return denies(PowerState, "init changes the run level")
		}
	case "systemctl", "loginctl", "pmset":
		if hasWord("poweroff reboot halt suspend hibernate hybrid-sleep kexec emergency rescue exit soft-reboot sleepnow terminate-user kill-user kill-session terminate-session", subcommand(s)) {
			return denies(PowerState, name+" "+subcommand(s)+" ends more than the command")
		}
	case "kill":
		return killsAll(s)
	case "pkill", "killall", "skill", "taskkill":
		for _, w := range s.args() {
			// pkill takes a pattern.
			matches, err := regexp.MatchString(w.value, "acp-agent")
			if strings.Contains(w.value, "acp-agent") || name == "pkill" && w.static && !strings.HasPrefix(w.value, "-") && err == nil && matches {
				return denies(PowerState, name+" would end the agent itself")
			}
		}
		if hasFlag(s, "u", "--euid", "--uid", "--user") || hasAnyArg(s, ".", ".*", "", "-1") {
			return denies(PowerState, name+" would end every process")
		}
	}
	return finding{}
}

// killsAll finds DN6 in a kill.
func killsAll(s simple) finding {
	signal := true
	for _, w := range s.args() {
		for _, v := range w.vars {
			if v == "PPID" {
				return denies(PowerState, "kill would end the agent itself")
			}
		}
		v := w.value
		if signal && len(v) > 1 && v[0] == '-' {
			signal = v == "-s" || v == "-n"
			if v == "-1" && len(s.argv) == 2 {
				return denies(PowerState, "kill would end every process")
			}
			continue
		}
		signal = false
		if v == "-1" || v == "1" || v == "0" {
			return denies(PowerState, "kill "+v+" would end every process")
		}
	}
	return finding{}
}
