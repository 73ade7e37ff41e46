package sandbox

import (
	"os"
	"path/filepath"
	"testing"
)

func TestClean(t *testing.T) {
	tests := []struct {
		name, text string
		want       bool
	}{
		{"git", "[user]\n\tname = A\n\tsigningkey = ~/.key.pub\n[credential]\n\thelper = store\n[credential \"https://example.com\"]\n\thelper = !gh auth git-credential\n", true},
		{"a token in an address", "[url \"https://oauth2:abcdef123456@example.com/\"]\n\tinsteadOf = https://example.com/\n", false},
		{"a header", "[http]\n\textraheader = AUTHORIZATION: basic abc\n", false},
		{"a helper that prints a password", "[credential]\n\thelper = \"!f() { echo password=abc; }; f\"\n", false},
		{"a password of a mail server", "[sendemail]\n\tsmtppass = abc\n", false},
		{"cargo", "[registry]\nglobal-credential-providers = [\"cargo:token\"]\n[net]\ngit-fetch-with-cli = true\n", true},
		{"cargo with a token", "[registries.mine]\ntoken = \"abc\"\n", false},
		{"maven", "<settings><mirrors><mirror><id>a</id></mirror></mirrors></settings>", true},
		{"maven with a password", "<settings><servers><server><password>abc</password></server></servers></settings>", false},
		{"nuget with a password", `<add key="ClearTextPassword" value="abc" />`, false},
		{"pip", "[global]\nindex-url = https://example.com/simple\n", true},
		{"pip with a password", "[global]\nindex-url = https://u:abc@example.com/simple\n", false},
		{"conda with a token", "channels:\n  - https://conda.example.com/t/ab-12345678/main\n", false},
		{"cabal", "repository a\n  url: http://example.com/\n-- username:\n-- password:\n", true},
		{"a name in an address", "[url \"https://abc@example.com/\"]\n\tinsteadOf = https://example.com/\n", false},
		{"an address of ssh", "[url \"ssh://git@example.com/\"]\n\tinsteadOf = https://example.com/\n", true},
		{"mise", "[tools]\nnode = \"20\"\n", true},
		{"mise with a token", "[env]\nGITHUB_TOKEN = \"abc\"\n", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "settings")
			if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := clean(path); got != tt.want {
				t.Errorf("clean is %v", got)
			}
		})
	}
}

func TestWithoutCredentials(t *testing.T) {
	text := "[user]\n\tname = A\n[include]\n\tpath = ~/.other\n[http]\n\textraheader = \"AUTHORIZATION: \\\nbasic abc\"\n\tsslVerify = true"
	want := "[user]\n\tname = A\n[include]\n[http]\n\tsslVerify = true\n"
	if got := string(withoutCredentials([]byte(text))); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
