package sandbox

import (
	"strings"
	"testing"
)

// TestOpened_OtherRepository works in a second repository of the user's: one answer opens it for commands that read, which
// then see it, without its secrets, and run unasked. Others stay asked about, and change nothing there.
func TestOpened_OtherRepository(t *testing.T) {
	t.Parallel()
	for _, level := range []string{"bubblewrap", "namespaces", "landlock"} {
		t.Run(level, func(t *testing.T) {
			t.Parallel()
			w := startConfined(t, level, "", map[string]string{
				"cat": "cat ~/other/sub/a.txt", "ls": "ls ~/other/sub; cat ~/other/sub/*.txt", "grep": "cd ~/other && grep -rh canary .", "log": "git -C ~/other log --oneline",
				"objects": "cd ~/other && cat $(ls -d .git/objects/*)", "object": "cd ~/other && base64 $(ls .git/objects/ab/cd)", "settings": "cat ~/.config/tool/x", "make": "cd ~/other && make", "touch": "touch ~/other/sub/new.txt", "secret": "cat ~/other/.env", "third": "ls ~/third",
			}, map[string]string{
				"/home/other/sub/a.txt": "canary-open\n", "/home/other/.env": "KEY=canary-hidden\n", "/home/other/.git/HEAD": "ref: refs/heads/main\n",
				"/home/other/.git/config": "[core]\n\tbare = false\n", "/home/other/.git/objects/x": "canary-object", "/home/other/.git/refs/x": "",
				"/home/other/.git/objects/ab/cd": "canary-object", "/home/.config/tool/x": "", "/home/other/Makefile": "all:\n\ttouch made\n", "/home/third/b.txt": "",
			})
			w.answers("allow_always")
			if text := w.run(t, "cat"); !strings.Contains(text, "canary-open") {
				t.Fatalf("the command that is asked about: %s", text)
			}
			if card := w.card(); !strings.Contains(card, "lies outside the workspace") {
				t.Errorf("the card is %s", card)
			}
			asked := len(w.cards)
			for name, want := range map[string]string{"ls": "a.txt", "grep": "canary-open", "log": "does not have any commits"} {
				if level == "landlock" && name != "ls" {
					continue // it cannot hide single files, so a directory with secrets stays hidden
				}
				if text := w.run(t, name); !strings.Contains(text, want) || strings.Contains(text, "canary-hidden") {
					t.Errorf("%s: %s", name, text)
				}
			}
			if text := w.run(t, "secret"); strings.Contains(text, "canary-hidden") {
				t.Errorf("a secret: %s", text)
			}
			for _, name := range []string{"objects", "object"} {
				if text := w.run(t, name); strings.Contains(text, "canary-object") || strings.Contains(text, "Y2FuYXJ5") {
					t.Errorf("what git keeps of the content of files: %s", text)
				}
			}
			if len(w.cards) > asked {
				t.Errorf("asked again: %s", w.card())
			}
			if w.answers("reject"); !strings.Contains(w.run(t, "settings"), "rejected") || strings.Contains(w.card(), "reading in") {
				t.Errorf("a hidden directory of the home may be opened: %s", w.card())
			}
			for _, name := range []string{"make", "touch", "third"} {
				asked := len(w.cards)
				w.answers("reject")
				if w.run(t, name); len(w.cards) != asked+1 {
					t.Errorf("%s: %d questions", name, len(w.cards)-asked)
				}
			}
		})
	}
}

// TestOpened_KeptByVersionControl is an opened repository with a password in the address of its remote, and with what another
// system keeps of files: a command whose words are not known is asked about, and one that reads all sees nothing of the latter.
func TestOpened_KeptByVersionControl(t *testing.T) {
	t.Parallel()
	for _, level := range []string{"bubblewrap", "namespaces"} {
		t.Run(level, func(t *testing.T) {
			t.Parallel()
			w := startConfined(t, level, "", map[string]string{
				"cat": "cat ~/other/a.txt; cat ~/svn/a.txt", "address": "cd ~/other && rev .git/c*", "within": "cd ~/other/.git && rev c*", "bare": "cd ~/bare.git && rev c*",
				"open": "cat ~/bare.git/HEAD", "all": "grep -rh canary ~/svn",
			}, map[string]string{
				"/home/other/a.txt": "", "/home/other/.git/HEAD": "ref: refs/heads/main\n", "/home/other/.git/refs/x": "", "/home/other/.git/objects/x": "",
				"/home/other/.git/config": "[remote \"o\"]\n\turl = https://jo:canary-password@git.example/x\n",
				"/home/bare.git/HEAD":     "ref: refs/heads/main\n", "/home/bare.git/config": "[remote \"o\"]\n\turl = https://jo:canary-password@git.example/x\n",
				"/home/svn/a.txt": "canary-open\n", "/home/svn/.svn/pristine/ab/x": "canary-pristine\n",
			})
			w.answers("allow_always")
			w.run(t, "cat")
			w.run(t, "open")
			w.answers("reject")
			for _, name := range []string{"address", "within", "bare"} {
				if asked := len(w.cards); strings.Contains(w.run(t, name), "drowssap-yranac") || len(w.cards) != asked+1 {
					t.Errorf("%s: %d questions", name, len(w.cards)-asked)
				}
			}
			if text := w.run(t, "all"); !strings.Contains(text, "canary-open") || strings.Contains(text, "canary-pristine") {
				t.Errorf("all: %s", text)
			}
		})
	}
}
