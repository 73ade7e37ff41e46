package launch

import (
	"slices"
	"strings"
)

// allowedName reports whether a variable is on the short list of [ProgramEnv]. Case does not
// count: Windows ignores it, and the variables of proxies are written in both cases.
func allowedName(name string) bool {
	name = strings.ToUpper(name)
	if strings.HasPrefix(name, "LC_") {
		return true
	}
	return slices.Contains(slices.Concat(userNames(), systemNames(), toolchainNames(), networkNames()), name)
}

// userNames say who the user is, how they read, and where their files lie.
func userNames() []string {
	return []string{
		"HOME", "USER", "LOGNAME", "USERNAME", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "SHELL",
		"LANG", "LANGUAGE", "TZ",
		"XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_DIRS",
		"APPDATA", "LOCALAPPDATA",
	}
}

// systemNames are what programs need to run at all.
func systemNames() []string {
	return []string{
		"TMPDIR", "TMP", "TEMP", "TERM",
		"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "OS", "PROGRAMDATA",
		"PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMW6432", "COMMONPROGRAMFILES",
		"NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE",
	}
}

// toolchainNames lead formatters and language servers to the compiler, the
// packages and the caches that the user's own builds use.
func toolchainNames() []string {
	return []string{
		"GOPATH", "GOROOT", "GOBIN", "GOCACHE", "GOMODCACHE", "GOFLAGS", "GOENV", "GOWORK", "GOTMPDIR", "GO111MODULE",
		"GOOS", "GOARCH", "GOARM", "GOAMD64", "GOEXPERIMENT", "GOTOOLCHAIN", "CGO_ENABLED", "CC", "CXX",
		"GOPROXY", "GOPRIVATE", "GONOPROXY", "GOSUMDB", "GONOSUMDB", "GOINSECURE",
		"CARGO_HOME", "CARGO_TARGET_DIR", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "RUST_SRC_PATH",
		"JAVA_HOME", "DOTNET_ROOT", "VIRTUAL_ENV", "CONDA_PREFIX", "PYENV_ROOT", "PYENV_VERSION",
		"NVM_DIR", "VOLTA_HOME", "ASDF_DIR", "ASDF_DATA_DIR", "MISE_DATA_DIR",
	}
}

// networkNames let a program reach the network as the user does. A value with a password in it,
// such as that of a proxy, is dropped nevertheless.
func networkNames() []string {
	return []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"}
}
