package tools

// OwnToolchain are the variables, as NAME=value, under which a program of a language
// is started: they keep the directory from choosing, or fetching, the toolchain that
// it belongs to, for go.mod and rust-toolchain.toml may name any.
func OwnToolchain() []string {
	return []string{"GOTOOLCHAIN=local", "RUSTUP_TOOLCHAIN=stable", "RUSTUP_AUTO_INSTALL=0"}
}
