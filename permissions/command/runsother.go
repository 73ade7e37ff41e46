package command

import (
	"path"
	"strings"
)

// runsOther reports an option that makes a program start another one, take its settings from elsewhere,
// or write where the option says. Names are compared without their dashes, and either may be the
// beginning of the other: programs accept abbreviations, and values attached without a mark.
func runsOther(words []word) bool {
	options := strings.Fields(otherOptions(path.Base(words[0].value)))
	if len(options) == 0 {
		return false
	}
	for _, w := range words[1:] {
		if len(w.value) < 2 || w.value[0] != '-' {
			continue
		}
		for _, option := range options {
			if sameOption(option, w.value) {
				return true
			}
		}
	}
	return false
}

// otherOptions lists such options of a program.
func otherOptions(program string) string {
	switch program {
	case "git":
		return "-c -C -o -O --output --exec-path --config-env --upload-pack --receive-pack --exec --ext-diff --textconv --open-files-in-pager " +
			"--pathspec-from-file --git-dir --work-tree --template --strategy --gpg-sign --file --contents --config --separate-git-dir --namespace"
	case "go":
		return "-o -C --exec --toolexec --vettool --modfile --overlay --pkgdir --outputdir --coverprofile --cpuprofile --memprofile --blockprofile --mutexprofile --trace --ldflags --gcflags --gccgoflags --asmflags --compiler"
	case "cargo":
		return "-C -Z --config --manifest-path --target-dir --out-dir"
	case "npm", "pnpm", "yarn", "bun":
		return "-C --script-shell --node-options --prefix --cwd --userconfig --globalconfig --shell --editor --git --dir"
	case "find":
		return "--exec --execdir --ok --okdir --fprint --fprintf --fls --delete"
	case "tar":
		return "-I -F -C --to-command --checkpoint-action --use-compress-program --rsh-command --info-script --new-volume-script"
	case "rsync", "ssh", "scp", "sftp":
		return "-e -o -S -F --rsh --rsync-path"
	case "sort":
		return "-o --output --compress-program"
	case "rg":
		return "--pre --hostname-bin"
	case "make", "gmake":
		return "-f -C --file --makefile --eval --directory"
	}
	return ""
}

// sameOption reports whether a word that begins with a dash may be an option of the list.
func sameOption(option, arg string) bool {
	name := optionName(arg)
	bare := strings.TrimLeft(name, "-")
	if short := strings.TrimLeft(option, "-"); len(short) == 1 {
		return strings.HasPrefix(arg, option)
	} else if len(bare) >= 3 {
		return strings.HasPrefix(short, bare) || strings.HasPrefix(bare, short)
	} else {
		return bare == short
	}
}
