package permissions

import "sync"

// secretFamily is a set of names that hold secrets of one kind.
type secretFamily struct {
	names []string
	// masked says that commands cannot read such a file where a sandbox can hide it. The
	// other families are files that builds and tests read, or that a tool keeps its own
	// state in.
	masked bool
	// always says that a file of the family is masked even if git tracks it.
	always bool
}

// secretFamilies are the names that hold secrets (R30, P8). A pattern counts for whatever lies
// beneath, see namePattern. Source code keeps readable names: credentials.go, secrets.py.
func secretFamilies() []secretFamily {
	return []secretFamily{
		{
			// Variables for programs, and the accounts of services.
			names: []string{
				".env", ".env.*", ".netrc", ".pypirc", ".pgpass", ".git-credentials", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*",
			},
			masked: true, always: true,
		},
		{
			names: []string{
				"*.env", ".env~", ".env-*", ".flaskenv", ".envrc", ".envrc.*", ".dev.vars", ".dev.vars.*",
				"secrets.json", "secrets.json5", "secrets.yaml", "secrets.yml", "secrets.toml", "secrets.ini", "secrets.xml", "secrets.csv", "secrets.txt",
				"secrets.bak", "secrets.conf", "secrets.cfg", "secrets.properties", "secrets.tfvars",
				".secrets", ".secrets.json", ".secrets.yaml", ".secrets.yml", ".secrets.toml", ".secrets.ini", "appsettings.secrets.json",
				"_netrc", ".htpasswd", ".vault_pass", ".vault_pass.*", ".vault-pass", ".vault_password", ".vault-password", ".vault-token",
				".dockercfg", ".my.cnf", ".mylogin.cnf", ".s3cfg", ".boto", "rclone.conf", ".rclone.conf",
				"service-account*.json", "service_account*.json", "serviceaccount*.json", "*-service-account.json", "*_service_account.json",
				"*-firebase-adminsdk-*.json", "application_default_credentials.json", "client_secret*.json",
				".credentials.json", ".codex/auth.json", "oauth_creds.json", "opencode/auth.json", "github-copilot/*.json", ".composer/auth.json",
			},
			masked: true,
		},
		{
			// Settings with tokens in them, certificates, and the state of infrastructure.
			names: []string{
				".npmrc", ".docker/config.json", ".aws", ".ssh", ".gnupg", ".kube", "kubeconfig.yaml", "kubeconfig.yml", "*.kubeconfig",
				"credentials", "credentials.json", "credentials.yaml", "credentials.yml", "credentials.toml", "credentials.ini",
				"credentials.xml", "credentials.csv", "credentials.txt", "credentials.bak", "credentials.tfrc.json",
				"*.pem", "*.key", "*.p12", "*.pfx", "*.p8", "*.ppk", "*.jks", "*.keystore", "*.kdbx",
				"*.tfvars", "*.tfvars.json", "*.tfstate", "*.tfstate.*", ".terraformrc", "terraform.rc", "local.settings.json",
			},
		},
	}
}

// templateNames are meant to be read, whatever family they are of.
func templateNames() []string {
	return []string{
		".env.example", ".env.sample", ".env.template", ".env-example", ".env-sample", ".env-template", "example.env", "sample.env", "template.env",
		".envrc.example", ".envrc.sample", ".envrc.template", ".dev.vars.example", "example.tfvars", "sample.tfvars", "template.tfvars",
		"id_rsa*.pub", "id_dsa*.pub", "id_ecdsa*.pub", "id_ed25519*.pub",
		"debug.keystore", // the debug key of Android, whose password is public
		// What programs call their environment, which is searched for in sources.
		"process.env", "*.process.env", "import.meta.env", "meta.env", "deno.env", "bun.env", "rails.env", "std.env", "os.env",
		"c.env", "ctx.env", "context.env", "self.env", "this.env", "$.env",
	}
}

// trackedNames are meant to be read when git tracks them: what a project shares with
// everyone who has it holds no secret of this user's. `.env` and the names of
// environments that are deployed are not among them, for those are tracked by mistake.
func trackedNames() []string {
	return []string{
		".env.test", ".env.testing", ".env.ci", ".env.dist", ".env.default", ".env.defaults", ".env.schema",
		"test.env", "testing.env", "ci.env", "dist.env", "default.env", "defaults.env", ".envrc",
	}
}

// secretIndex finds the family of a name.
type secretIndex struct {
	families           []secretFamily
	names              nameTable
	templates, tracked []namePattern
}

var secretNames = sync.OnceValue(func() *secretIndex {
	index := &secretIndex{families: secretFamilies(), templates: parsed(templateNames()), tracked: parsed(trackedNames())}
	for i, family := range index.families {
		index.names.add(i, family.names)
	}
	return index
})

func parsed(texts []string) []namePattern {
	var patterns []namePattern
	for _, text := range texts {
		if pattern, err := parseNamePattern(text); err == nil { // see nameTable.add
			patterns = append(patterns, pattern)
		}
	}
	return patterns
}
