// Package shell prepares the text of a shell command before it is judged and run, and
// says which words of a program are known without running it.
//
// It owns the checks on the raw text (size, control characters, encoding), the parser
// settings, a second reader that confirms the parser's tree for the plain part of the
// language (Confirm), the preprocessing of R53 (a trailing "&", a leading "cd DIR &&", "~") and
// the evaluation of static words. What it returns of a command is always a slice of
// the bytes that came in: it never prints a tree back.
//
// It refuses to judge commands (permissions/command does), to run them and to look at
// the disk. It imports the shell parser and the standard library, and starts no
// goroutines.
//
//	cmd, cwd, err := shell.Preprocess(`cd "my dir" && go test ./... &`, "/w", "/home/ann", nil)
//	if err != nil {
//		return err // a *TextError: the text must not reach a shell
//	}
//	// cmd is "go test ./...", cwd is "/w/my dir"
//
// # Requirements
//
// R53 (preprocessing), R54 (the POSIX dialect when only sh exists), C1, C2, C7 and C8 of
// the security rules.
package shell
