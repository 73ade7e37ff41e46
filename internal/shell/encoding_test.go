package shell_test

import (
	"runtime"
	"testing"

	"acp-agent/internal/shell"
)

// TestEncodingOf holds that a locale is known to be harmless by its encoding alone, and that an
// unknown one is not.
func TestEncodingOf(t *testing.T) {
	for _, tt := range []struct {
		environ []string
		want    shell.Encoding
	}{
		{nil, shell.UTF8},
		{[]string{"LANG=C"}, shell.UTF8},
		{[]string{"LANG=de_DE.UTF-8"}, shell.UTF8},
		{[]string{"LANG=ca_ES.utf8@valencia"}, shell.UTF8},
		{[]string{"LC_CTYPE=UTF-8"}, shell.UTF8},
		{[]string{"LANG=zh_CN.GBK", "LC_ALL=POSIX"}, shell.UTF8},
		{[]string{"LANG=zh_CN.GBK", "LC_ALL=", "LC_CTYPE=C.UTF-8"}, shell.UTF8},

		{[]string{"LANG=ja_JP.SJIS"}, shell.AnyEncoding},
		{[]string{"LANG=zh_CN"}, shell.AnyEncoding},
		{[]string{"LANG=en_US.UTF-8", "LC_CTYPE=zh_CN.GB18030"}, shell.AnyEncoding},
		{[]string{"LC_ALL=zh_TW.Big5", "LANG=C"}, shell.AnyEncoding},
		{[]string{"LANG=C", "LANG=zh_CN.GBK"}, shell.AnyEncoding},
		{[]string{"LANG=UTF-8.GBK"}, shell.AnyEncoding},
	} {
		if got := shell.EncodingOf(tt.environ); got != tt.want {
			t.Errorf("%q: %v, want %v", tt.environ, got, tt.want)
		}
	}
}

// TestConfirm_Encoding holds that what comes after a character that is not ASCII is doubtful only where
// the encoding is not known.
func TestConfirm_Encoding(t *testing.T) {
	for _, text := range []string{
		`grep -rn "✗\|✓" .`,
		`grep "登录\|用户" src`,
		"echo é|cat",
		`printf "é\n"`,
	} {
		file, err := shell.Parse(text, shell.Bash)
		if err != nil {
			t.Fatal(err)
		}
		if err := shell.Confirm(text, file, shell.Bash, shell.AnyEncoding); err == nil || shell.Differs(err) {
			t.Errorf("%s: %v in any encoding, want that the text is outside the plain language", text, err)
		}
		if err := shell.Confirm(text, file, shell.Bash, shell.UTF8); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, known := range map[string]bool{"ls à": true, "cat 加": true, "ls a\u00a0b": false, "ls a\u3000b": false} {
		file, err := shell.Parse(text, shell.Bash)
		if err != nil {
			t.Fatal(err)
		}
		if err := shell.Confirm(text, file, shell.Bash, shell.UTF8); (err == nil) != (known && runtime.GOOS == "linux") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
