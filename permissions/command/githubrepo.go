package command

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// gitHubHere finds Verdict.GitHubHere and Verdict.GitHubElsewhere.
func gitHubHere(parts []Part) (here, elsewhere bool) {
	for _, p := range parts {
		switch {
		case len(p.Argv) > 0 && p.Argv[0] == "cd":
			elsewhere = true
		case len(p.Argv) < 3 || p.Argv[0] != "gh" || slices.Equal(p.Argv[1:], []string{"auth", "status"}):
		case hasWord("pr issue run workflow label", p.Argv[1]) && !namesGitHubRepository(p.Argv[1:]):
			here = here || hasWord("pr issue", p.Argv[1])
		default:
			elsewhere = true
		}
	}
	return here, elsewhere
}

// namesGitHubRepository reports arguments of gh that may name a repository: by an option, or as an address.
func namesGitHubRepository(args []string) bool {
	if c, changes := changesGitHub(args); changes {
		return c.repository != "" || slices.ContainsFunc(c.operands, func(operand string) bool { return strings.Contains(operand, ":/") })
	}
	return slices.ContainsFunc(args, func(arg string) bool {
		option := strings.HasPrefix(arg, "-") && (strings.HasPrefix(arg, "--repo") || !strings.HasPrefix(arg, "--") && strings.Contains(arg, "R"))
		return option || strings.Contains(arg, ":/")
	})
}

// GitHubRepository returns the repository, as OWNER/REPO, that a configuration of git makes the one of gh: that of its only
// remote, or what gh repo set-default stored. It returns "" where that is not certain: of several remotes none or more than one is
// the default, an address is not one of github.com, an included file or a rewritten address could change it, or the
// configuration is not understood.
func GitHubRepository(config string) string {
	c := readGitConfig(config, func(key string) bool {
		section, _, _ := strings.Cut(strings.ToLower(key), ".")
		return hasWord("remote include includeif url", section)
	})
	if c.broken {
		return ""
	}
	urls, resolved := map[string]string{}, map[string]string{}
	for _, s := range c.found {
		name, isRemote := strings.CutPrefix(s.key, "remote.")
		dot := strings.LastIndex(name, ".")
		value, hasValue := strings.CutPrefix(s.value, "=")
		if value = strings.TrimSpace(value); !isRemote || dot < 0 {
			return ""
		}
		into := urls
		switch strings.ToLower(name[dot+1:]) {
		case "url":
		case "gh-resolved":
			into = resolved
		case "fetch", "tagopt", "prune", "prunetags", "mirror":
			continue
		default:
			return ""
		}
		if into[name[:dot]] != "" || !hasValue || value == "" || strings.ContainsAny(value, "\"\\#;\n") {
			return ""
		}
		into[name[:dot]] = value
	}
	if len(resolved) > 1 || len(resolved) == 0 && len(urls) != 1 {
		return ""
	}
	names := urls
	if len(resolved) == 1 {
		names = resolved
	}
	for name := range names {
		at := gitHubAddress().FindStringSubmatch(urls[name])
		if at == nil {
			return ""
		}
		repository := at[1] + "/" + strings.TrimSuffix(at[2], ".git")
		if of := resolved[name]; of != "" && of != "base" {
			repository = of
		}
		if PlainGitHubRepository(repository) {
			return repository
		}
	}
	return ""
}

// PlainGitHubRepository reports OWNER/REPO, of plain words.
func PlainGitHubRepository(name string) bool {
	return plainRepository(name) && strings.Count(name, "/") == 1
}

// gitHubAddress matches the address of a repository of github.com.
var gitHubAddress = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:https://(?:[A-Za-z0-9_-]+@)?github\.com/|git@github\.com:|ssh://git@github\.com/)([A-Za-z0-9._-]+)/([A-Za-z0-9._-]+)/?$`)
})
