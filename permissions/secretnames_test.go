package permissions

import "testing"

// Every shipped pattern is well formed and finds its own name: one that is not would
// protect nothing.
func TestShippedNames_AreFound(t *testing.T) {
	var secret, protected []string
	for _, family := range secretFamilies() {
		secret = append(secret, family.names...)
	}
	for _, group := range protectedGroups() {
		protected = append(append(protected, group.asked...), group.denied...)
	}
	for _, text := range append(append(append(secret, protected...), templateNames()...), trackedNames()...) {
		pattern, err := parseNamePattern(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if parts := components(text); text != foldText(text) || !pattern.endsAt(parts, len(parts)-1) {
			t.Errorf("%q does not match itself", text)
		}
	}
	for _, text := range secret {
		if !Secret("/w/" + text) {
			t.Errorf("%q does not name a secret", text)
		}
	}
	for _, text := range protected {
		if Protected("/w/"+text) == Unprotected || Protected("/w/a/"+text+"/b") == Unprotected {
			t.Errorf("%q is not protected", text)
		}
	}
}

// Editors, file managers and programs leave copies of a secret beside it.
func TestSecret_Copies(t *testing.T) {
	for name, want := range map[string]bool{
		"#.env#": true, ".#.env": true, ".env (1)": true, ".env copy": true, ".env - Copy": true, "Copy of .env": true, "prod.env~": true,
		".prod.env.swp": true, "server.key~": true, "server.key.bak": true, "server.key.~12~": true, "key.pem.old": true, ".server.key.swp": true,
		"#id_rsa#": true, ".id_rsa.swp": true, ".netrc~": true, ".netrc.swp": true, ".git-credentials.lock": true, "secrets.json~": true,
		"secrets.yaml.bak": true, ".secrets.json.swp": true, "secrets.json.orig.bak": true, "secrets (1).json": true, "secrets copy.json": true,
		"secrets - Copy (2).json": true, "CREDENTIALS.JSON~": true, "terraform.tfvars~": true, ".aws.bak/config": true, ".env.test.bak": true,
		"main.go~": false, "#main.go#": false, "notes (1).txt": false, "copy of notes": false, "package.lock": false, "process.env.bak": false,
		"~": false, "#": false, ".#": false, ".swp": false, ".bak": false, ")": false, " (1)": false, "()": false, "a1~": false, "yarn.lock": false,
	} {
		if got := Secret("/w/" + name); got != want {
			t.Errorf("Secret(%q) = %v", name, got)
		}
	}
	tracked, err := NewSecrets(nil, func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	if tracked.Holds("/w/.env.test") || !tracked.Holds("/w/.env.test~") {
		t.Error("a copy of a template that git tracks is none itself")
	}
}

func TestSecrets_OfAConfiguration(t *testing.T) {
	s, err := NewSecrets([]string{"*.Vault", "deploy/prod.yml", "tok[ae]n-?"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{
		"/w/a.vault": true, "/w/A.VAULT": true, "/w/a.vault/x": true, "/w/deploy/prod.yml": true, "/w/x/Deploy/prod.yml": true, "/w/token-1": true,
		"/w/prod.yml": false, "/w/deploy/x/prod.yml": false, "/w/vault": false, "/w/token-12": false, "/w/.env": true, "/w/main.go": false,
	} {
		if got := s.Holds(name); got != want {
			t.Errorf("Holds(%q) = %v", name, got)
		}
	}
	if !s.Masked("/w/a.vault") || s.Masked("/w/main.go") {
		t.Error("what the configuration names is kept from commands, and nothing else")
	}
	for _, bad := range []string{"", "*", "**", "a/**/b", "?", "../x", "a//b", "[", "/x", "./a"} {
		if _, err := NewSecrets([]string{bad}, nil); err == nil {
			t.Errorf("%q is taken for a pattern", bad)
		}
	}
}

func TestSecrets_Tracked(t *testing.T) {
	s, err := NewSecrets(nil, func(path string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{
		"/w/.env.test": false, "/w/.env.ci": false, "/w/.envrc": false, "/w/a/test.env": false,
		"/w/.env": true, "/w/.env.production": true, "/w/.env.local": true, "/w/prod.env": true, "/w/secrets.yml": true, "/w/.ssh/.env.test": true,
		"/w/.env.test/x": true,
	} {
		if got := s.Holds(name); got != want {
			t.Errorf("Holds(%q) = %v, want %v of a tracked file", name, got, want)
		}
	}
	for name, want := range map[string]bool{"/w/.env": true, "/w/.env.test": false, "/w/secrets.yml": false, "/w/x.pem": false, "/w/a.go": false} {
		if got := s.Masked(name); got != want {
			t.Errorf("Masked(%q) = %v, want %v of a tracked file", name, got, want)
		}
	}
	for name, want := range map[string]bool{"/w/.env.test": true, "/w/secrets.yml": true, "/w/.envrc": true, "/w/terraform.tfstate": false, "/w/.npmrc": false} {
		if got := (*Secrets)(nil).Masked(name); got != want {
			t.Errorf("Masked(%q) = %v, want %v of one that is not tracked", name, got, want)
		}
	}
}
