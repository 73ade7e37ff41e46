package builtin

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"acp-agent/capability"
	"acp-agent/internal/search"
	"acp-agent/kinds"
	"acp-agent/tools"
)

// The limits of repo_overview.
const (
	overviewFiles     = 50_000 // files that are counted
	overviewSizes     = 5_000  // files whose size is asked for
	overviewLanguages = 12
	overviewKeyFiles  = 40
	overviewName      = 300 // characters of a name
)

//go:embed repo_overview.md
var repoOverviewPrompt string

type repoOverviewArgs struct {
	Path string `json:"path"`
}

// overviewData is the data of a survey. Names are relative to Path.
type overviewData struct {
	Path        string         `json:"path"`
	Files       int            `json:"files"`
	Directories int            `json:"directories"`
	Truncated   bool           `json:"truncated,omitempty"`
	Languages   []languageStat `json:"languages"`
	KeyFiles    []string       `json:"keyFiles"`
	Tree        string         `json:"tree"`
}

// languageStat counts the files of one language. Bytes is left out where the
// tree has too many files to ask each for its size.
type languageStat struct {
	Language string `json:"language"`
	Files    int    `json:"files"`
	Bytes    *int64 `json:"bytes,omitempty"`
}

// newRepoOverview is the tool that surveys a repository (R98). It looks at names
// and sizes alone and opens no file but ignore files, so that files with secrets
// may be listed. At most overviewFiles files are counted, the tree has at most
// treeLines lines.
func newRepoOverview() tools.Tool {
	return tools.Define(tools.Spec{
		ID:          "repo_overview",
		Description: prompt(repoOverviewPrompt),
		Kind:        kinds.Read,
		Label:       "Survey repository",
		Describe:    pathTitle[repoOverviewArgs]("Survey"),
		Default:     capability.AllowAlways,
		Parameters:  object(text("path?", "Absolute path of a directory. Default: the working directory.")),
		Requires:    capability.RequirementSet{FS: capability.FS{Read: []string{workspaceScope, adHocScope}}},
		Preprocess:  absolutePath,
		Resources:   touches[repoOverviewArgs](tools.PathRead),
		Profile:     treeProfile[repoOverviewArgs](),
		ReadOnly:    true,
		OwnLimit:    true,
	}, repoOverview)
}

func repoOverview(ctx context.Context, rt tools.Runtime, a repoOverviewArgs) (*tools.Result, error) {
	base := rt.Session().Abs(a.Path)
	dir, err := rt.FS().Dir(ctx, base)
	if err != nil {
		return nil, fileFailure("survey", base, err)
	}
	defer dir.Close()
	found, err := search.Glob(ctx, dir, search.GlobOptions{
		Base: base, Pattern: "**", Hidden: true, Ignore: ignoresAbove(ctx, rt, base), MaxResults: overviewFiles,
	})
	if err != nil {
		return nil, searchFailure("repo_overview", base, err, "")
	}
	names := make([]string, 0, len(found.Paths))
	for _, p := range found.Paths {
		if rel, err := filepath.Rel(base, p); err == nil {
			names = append(names, filepath.ToSlash(rel))
		}
	}
	tree := newFileTree(names)
	data := overviewData{
		Path: base, Files: len(names), Directories: tree.directories(), Truncated: found.Truncated,
		KeyFiles: keyFiles(names), Tree: tree.render(),
	}
	if data.Languages, err = languages(ctx, rt, base, names); err != nil {
		return nil, err
	}
	result := tools.Output(data)
	result.Text = data.text()
	result.Locations = []kinds.Location{{Path: base}}
	return result, nil
}

// languages counts files and bytes by language, the most frequent first, and
// the files in no known language last.
func languages(ctx context.Context, rt tools.Runtime, base string, names []string) ([]languageStat, error) {
	sized := len(names) <= overviewSizes
	stats := map[string]*languageStat{}
	for _, name := range names {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		language := languageOf(name)
		if language == "" {
			continue
		}
		stat := stats[language]
		if stat == nil {
			stat = &languageStat{Language: language}
			if sized {
				stat.Bytes = new(int64)
			}
			stats[language] = stat
		}
		stat.Files++
		if !sized {
			continue
		}
		// A file that went meanwhile counts with no bytes.
		if info, err := rt.FS().Stat(ctx, filepath.Join(base, filepath.FromSlash(name))); err == nil {
			*stat.Bytes += info.Size
		}
	}
	other := stats[otherLanguage]
	delete(stats, otherLanguage)
	list := make([]languageStat, 0, len(stats))
	for _, stat := range stats {
		list = append(list, *stat)
	}
	slices.SortFunc(list, func(a, b languageStat) int {
		return cmp.Or(cmp.Compare(b.Files, a.Files), cmp.Compare(a.Language, b.Language))
	})
	list = list[:min(len(list), overviewLanguages)]
	if other != nil {
		list = append(list, *other)
	}
	return list, nil
}

// keyFiles are the files that say how to build the repository and to work in
// it, those nearest to its top first.
func keyFiles(names []string) []string {
	found := []string{}
	for _, name := range names {
		if strings.Count(name, "/") <= 2 && isKeyFile(name) {
			found = append(found, kinds.Line(name, overviewName))
		}
	}
	slices.SortStableFunc(found, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
	return found[:min(len(found), overviewKeyFiles)]
}

func isKeyFile(name string) bool {
	base := strings.ToLower(path.Base(name))
	if strings.HasPrefix(name, ".github/workflows/") {
		return strings.HasSuffix(base, ".yml") || strings.HasSuffix(base, ".yaml")
	}
	stem, _, _ := strings.Cut(base, ".")
	switch stem {
	case "readme", "contributing", "license", "architecture", "makefile", "justfile", "dockerfile", "jenkinsfile":
		return !strings.Contains(base, ".go")
	}
	switch base {
	case "agents.md", "claude.md", "context.md", "go.mod", "go.work", "package.json", "pnpm-workspace.yaml", "tsconfig.json",
		"deno.json", "pyproject.toml", "setup.py", "requirements.txt", "cargo.toml", "pom.xml", "build.gradle",
		"build.gradle.kts", "settings.gradle", "cmakelists.txt", "meson.build", "build.bazel", "module.bazel", "gemfile",
		"composer.json", "mix.exs", "package.swift", "flake.nix", "taskfile.yml", "docker-compose.yml", "compose.yaml",
		".gitlab-ci.yml", ".editorconfig", ".pre-commit-config.yaml":
		return true
	}
	return false
}

// text is the survey as the model reads it.
func (d overviewData) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d files in %d directories\n", d.Path, d.Files, d.Directories)
	if d.Truncated {
		b.WriteString("[there are more: the counts are of a part]\n")
	}
	if len(d.Languages) > 0 {
		parts := make([]string, 0, len(d.Languages))
		for _, l := range d.Languages {
			part := fmt.Sprintf("%s %d", l.Language, l.Files)
			if l.Bytes != nil {
				part += fmt.Sprintf(" (%d KiB)", (*l.Bytes+1023)/1024)
			}
			parts = append(parts, part)
		}
		b.WriteString("Files by language: " + strings.Join(parts, ", ") + "\n")
	}
	if len(d.KeyFiles) > 0 {
		b.WriteString("Key files: " + strings.Join(d.KeyFiles, ", ") + "\n")
	}
	return strings.TrimRight(b.String()+"\n"+d.Tree, "\n")
}
