package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"acp-agent/internal/testkit/testreq"
)

// toolchain is a real toolchain with a small project that builds or runs from what the
// toolchain keeps in a home.
type toolchain struct {
	name string
	// needs are the programs without which it cannot be tried.
	needs []string
	// always says that it is tried wherever its programs are; the others are for
	// `make toolchains`.
	always bool
	files  map[string]string // of the project, and beneath "~/" of the home
	// prepare runs in the project outside of any sandbox and fills the home.
	prepare string
	path    []string // of the home, before the PATH
	run     string
	want    string // what the output holds
	not     Kind   // the kind under which the toolchain does not work, whatever the home
}

const nodeTest = `{"name": "app", "version": "1.0.0", "scripts": {"test": "node test.js"}, "dependencies": {"left-pad": "1.3.0"}}`

var toolchains = []toolchain{
	{
		name: "go, modules", needs: []string{"go"}, always: true,
		files: map[string]string{
			"go.mod": "module app\n\ngo 1.24\n", "app.go": "package app\n\nimport _ \"github.com/google/go-cmp/cmp\"\n", "~/go/bin/tool": "#!/bin/sh\necho from go/bin\n",
		},
		// The module cache of this machine is the proxy.
		prepare: `chmod +x ~/go/bin/tool && export GOFLAGS="-mod=mod -modcacherw" GOSUMDB=off GOPROXY="file://$MACHINE_GOMODCACHE/cache/download" && go get github.com/google/go-cmp@v0.7.0`,
		path:    []string{"go/bin"}, run: "GOFLAGS=-mod=mod go list -deps . && tool", want: "from go/bin",
	},
	{
		name: "go, a test", needs: []string{"go"},
		files: map[string]string{
			"go.mod": "module app\n\ngo 1.24\n", "app_test.go": "package app\n\nimport (\n\t\"testing\"\n\n\t\"github.com/google/go-cmp/cmp\"\n)\n\nfunc Test(t *testing.T) { t.Log(cmp.Equal(1, 1)) }\n",
		},
		prepare: `export GOFLAGS="-mod=mod -modcacherw" GOSUMDB=off GOPROXY="file://$MACHINE_GOMODCACHE/cache/download" && go get github.com/google/go-cmp@v0.7.0`,
		run:     "GOFLAGS=-mod=mod go test -buildvcs=false -v ./...", want: "--- PASS: Test",
	},
	{
		name: "git", needs: []string{"git"}, always: true,
		files:   map[string]string{"~/.gitconfig": "[user]\n\tname = A\n\temail = a@example.com\n[include]\n\tpath = ~/.gitconfig.more\n", "~/.gitconfig.more": "[alias]\n\tlast = log -1 --format=%an\n"},
		prepare: "git init -q .", run: "echo x > a && git add a && git commit -qm a && git last", want: "A",
	},
	{
		name: "python, user site", needs: []string{"python3"}, always: true,
		files:   map[string]string{"main.py": "import helper\nprint(helper.text)\n"},
		prepare: `site=$(python3 -m site --user-site) && mkdir -p "$site" && echo 'text = "from the user site"' > "$site/helper.py"`,
		run:     "python3 main.py", want: "from the user site",
	},
	{
		name: "python, virtual environment", needs: []string{"python3"}, always: true,
		files:   map[string]string{"test_a.py": "import unittest\nimport helper\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(helper.n, 1)\n"},
		prepare: `python3 -m venv --without-pip ~/.virtualenvs/app && echo 'n = 1' > "$(echo ~/.virtualenvs/app/lib/python3*/site-packages)/helper.py"`,
		path:    []string{".virtualenvs/app/bin"}, run: "python -m unittest -q 2>&1", want: "OK",
	},
	{
		name: "node of a version manager, and npm", needs: []string{"node", "npm"}, always: true,
		files: map[string]string{
			"~/.npmrc":     "//registry.example.com/:_authToken=open-sesame\n",
			"package.json": `{"name": "app", "version": "1.0.0", "scripts": {"test": "node --test && tool"}}`,
			"a.test.js":    "require('node:test')('a', () => require('node:assert').equal(1, 1))\n", "tool/package.json": `{"name": "tool", "version": "1.0.0", "bin": {"tool": "x.js"}}`,
			"tool/x.js": "#!/usr/bin/env node\nconsole.log('from the global packages')\n",
		},
		prepare: `mkdir -p ~/.nvm/versions/node/v20.0.0/bin && cp "$(command -v node)" ~/.nvm/versions/node/v20.0.0/bin/ && npm install --silent --offline -g --install-links --prefix ~/.nvm/versions/node/v20.0.0 ./tool`,
		path:    []string{".nvm/versions/node/v20.0.0/bin"}, run: "npm test && which node", want: "from the global packages",
	},
	{
		name: "perl, local::lib", needs: []string{"perl"}, always: true,
		files: map[string]string{"~/perl5/lib/perl5/Helper.pm": "package Helper; sub text { 'from perl5' } 1;", "t.pl": "use Helper; print Helper::text(), \"\\n\";"},
		run:   `perl -I"$HOME/perl5/lib/perl5" t.pl`, want: "from perl5",
	},
	{
		name: "cargo", needs: []string{"cargo", "rustc", "git"},
		files: map[string]string{
			"helper/Cargo.toml": "[package]\nname = \"helper\"\nversion = \"0.1.0\"\nedition = \"2021\"\n", "helper/src/lib.rs": "pub fn text() -> &'static str { \"from cargo's git\" }\n",
			"Cargo.toml":  "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\nhelper = { git = \"file:///PROJECT/helper\" }\n",
			"src/main.rs": "fn main() { println!(\"{}\", helper::text()) }\n", "~/.cargo/config.toml": "[net]\noffline = true\n", "~/.cargo/credentials.toml": "[registry]\ntoken = \"open-sesame\"\n",
		},
		prepare: `ln -s "$MACHINE_RUSTUP" ~/.rustup && mkdir -p ~/.cargo/bin && cp -L "$MACHINE_CARGO"/bin/{cargo,rustc} ~/.cargo/bin/ &&
			(cd helper && git init -q . && git add . && git -c user.name=a -c user.email=a commit -qm a) && CARGO_NET_OFFLINE=false cargo fetch -q && rm -rf helper/.git`,
		path: []string{".cargo/bin"}, run: "cargo run -q --offline", want: "from cargo's git",
	},
	{
		name: "pnpm", needs: []string{"node", "pnpm"}, files: map[string]string{"~/.config/pnpm/rc": "//registry.example.com/:_authToken=open-sesame\n", "package.json": nodeTest, "test.js": "console.log(require('left-pad')('pnpm', 6, '.'))\n"},
		prepare: "pnpm install --silent", run: "pnpm test && pnpm exec node test.js", want: "..pnpm",
	},
	{
		name: "yarn", needs: []string{"node", "yarn"}, files: map[string]string{"package.json": nodeTest, "test.js": "console.log(require('left-pad')('yarn', 6, '.'))\n"},
		prepare: "yarn install --silent && mkdir -p ~/.config/yarn/global/bin && printf '#!/bin/sh\\necho from yarn' > ~/.config/yarn/global/bin/tool && chmod +x ~/.config/yarn/global/bin/tool",
		path:    []string{".config/yarn/global/bin"}, run: "yarn test && tool", want: "..yarn",
	},
	{
		name: "deno", needs: []string{"deno"}, files: map[string]string{"main.ts": "import pad from 'npm:left-pad@1.3.0'\nconst s: string = pad('deno', 6, '.')\nconsole.log(s)\n"},
		prepare: "deno run main.ts", run: "deno run --cached-only main.ts", want: "..deno",
	},
	{
		name: "bun", needs: []string{"bun"}, files: map[string]string{"package.json": nodeTest, "a.test.ts": "import { expect, test } from 'bun:test'\nimport pad from 'left-pad'\ntest('a', () => { expect(pad('bun', 5, '.')).toBe('..bun'); console.log(pad('bun', 5, '.')) })\n"},
		prepare: `bun install && mkdir -p ~/.bun/bin && cp -L "$(command -v bun)" ~/.bun/bin/`, path: []string{".bun/bin"}, run: "bun test", want: "..bun",
	},
	{
		name: "typescript and esbuild", needs: []string{"node", "tsc", "esbuild"}, files: map[string]string{"a.ts": "export const n: number = 1\nconsole.log('built', n)\n"},
		prepare: `cd "$(dirname "$(realpath "$(command -v tsc)")")/../.." && mkdir -p ~/.npm-global/lib/node_modules && cp -r typescript esbuild ~/.npm-global/lib/node_modules/`,
		run:     `node ~/.npm-global/lib/node_modules/typescript/bin/tsc a.ts --noEmit && ~/.npm-global/lib/node_modules/esbuild/bin/esbuild a.ts --bundle --outfile=o.js && node o.js`, want: "built 1",
	},
	{
		name: "ruby, gems and bundler", needs: []string{"ruby", "gem", "bundle"},
		files: map[string]string{
			"helper.gemspec": "Gem::Specification.new { |s| s.name = 'helper'; s.version = '0.1.0'; s.summary = 'a'; s.authors = ['a']; s.files = ['lib/helper.rb'] }\n",
			"lib/helper.rb":  "module Helper; def self.text = 'from the gems'; end\n", "Gemfile": "gem 'helper', '0.1.0'\n", "main.rb": "require 'helper'\nputs Helper.text\n",
			"~/.gem/credentials": "open-sesame", "~/.bundle/config": "---\nBUNDLE_GEMS__EXAMPLE__COM: \"u:open-sesame\"\n",
		},
		prepare: "gem build -q helper.gemspec && gem install -q --local --user-install helper-0.1.0.gem && rm -rf lib *.gem *.gemspec && bundle install --local --quiet",
		run:     "bundle exec ruby main.rb", want: "from the gems",
	},
	{
		name: "maven", needs: []string{"mvn", "java"},
		files: map[string]string{
			"~/.m2/repository/a/parent/1/parent-1.pom": "<project><modelVersion>4.0.0</modelVersion><groupId>a</groupId><artifactId>parent</artifactId><version>1</version><packaging>pom</packaging></project>",
			"~/.m2/settings.xml":                       "<settings/>", "~/.m2/settings-security.xml": "<settingsSecurity><master>open-sesame</master></settingsSecurity>",
			"pom.xml": "<project><modelVersion>4.0.0</modelVersion><parent><groupId>a</groupId><artifactId>parent</artifactId><version>1</version><relativePath/></parent><artifactId>app</artifactId></project>",
		},
		run: "mvn -o -B -Duser.home=\"$HOME\" validate", want: "BUILD SUCCESS",
	},
	{
		name: "gradle", needs: []string{"gradle", "java"},
		files: map[string]string{"build.gradle": "task hello { doLast { println 'from gradle' } }\n", "settings.gradle": "rootProject.name = 'app'\n", "~/.gradle/gradle.properties": "token=open-sesame\n"},
		run:   `gradle --offline --no-daemon -g "$TMPDIR/gradle" -q hello`, want: "from gradle",
		not: Landlock, // it talks to a server of its own on this machine
	},
	{
		name: "composer", needs: []string{"php", "composer"},
		files: map[string]string{
			"~/helper/composer.json": `{"name": "a/helper", "version": "1.0.0", "autoload": {"files": ["f.php"]}}`, "~/helper/f.php": "<?php function text() { return 'from composer'; }",
			"main.php": "<?php require getenv('HOME') . '/.config/composer/vendor/autoload.php'; echo text();", "composer.json": `{"name": "a/app", "autoload": {"psr-4": {"A\\": "src"}}}`,
			"~/.config/composer/auth.json": `{"github-oauth": {"github.com": "open-sesame"}}`,
		},
		prepare: `export COMPOSER_ALLOW_SUPERUSER=1 && composer global config -q repositories.a '{"type": "path", "url": "'$HOME'/helper", "options": {"symlink": false}}' && composer global config -q repositories.packagist false && composer global require -q a/helper`,
		run:     "COMPOSER_ALLOW_SUPERUSER=1 composer dump-autoload -q && php main.php", want: "from composer",
	},
	{
		name: "luarocks", needs: []string{"luarocks"},
		files: map[string]string{
			"helper-1-1.rockspec": "package = 'helper'\nversion = '1-1'\nsource = { url = 'file:///PROJECT/h.lua' }\nbuild = { type = 'builtin', modules = { helper = 'h.lua' } }\n",
			"h.lua":               "return 'from the rocks'\n", "main.lua": "print(require('helper'))\n", "~/.luarocks/upload_config.lua": "key = 'open-sesame'\n",
		},
		prepare: "luarocks make --local helper-1-1.rockspec && rm h.lua helper-1-1.rockspec", run: `eval "$(luarocks path)" && "$(basename "$(luarocks config lua_interpreter)")" main.lua`, want: "from the rocks",
		not: Landlock, // Lua's temporary files are in /tmp
	},
	{
		name: "nim", needs: []string{"nim"},
		files: map[string]string{"~/.nimble/pkgs/helper-1.0.0/helper.nim": "proc text*(): string = \"from nimble\"\n", "main.nim": "import helper\necho text()\n", "~/.nimble/github_api_token": "open-sesame"},
		run:   `nim c --hints:off --nimcache:"$TMPDIR/nim" --nimblePath:"$HOME/.nimble/pkgs" -r main.nim`, want: "from nimble",
	},
	{
		name: "elixir and mix", needs: []string{"elixir", "mix"},
		files: map[string]string{
			"mix.exs": "defmodule A.MixProject do\n  use Mix.Project\n  def project, do: [app: :a, version: \"0.1.0\"]\nend\n", "lib/a.ex": "defmodule A do\n  def n, do: 1\nend\n",
			"test/test_helper.exs": "ExUnit.start()\n", "test/a_test.exs": "defmodule ATest do\n  use ExUnit.Case\n  test \"a\", do: assert(A.n() == 1)\nend\n", "~/.hex/hex.config": "open-sesame",
			"h/mix.exs": "defmodule H.MixProject do\n  use Mix.Project\n  def project, do: [app: :h, version: \"0.1.0\"]\nend\n", "h/lib/t.ex": "defmodule Mix.Tasks.Hello do\n  use Mix.Task\n  def run(_), do: IO.puts(\"from the archives\")\nend\n",
		},
		prepare: "cd h && mix archive.build -o h.ez && mix archive.install --force h.ez && cd .. && rm -rf h", run: "mix test && mix hello", want: "from the archives",
	},
	{
		name: "R", needs: []string{"Rscript"},
		files:   map[string]string{"helper/DESCRIPTION": "Package: helper\nVersion: 1.0\nTitle: A\nDescription: A.\nAuthor: A\nMaintainer: A <a@example.com>\nLicense: MIT\n", "helper/NAMESPACE": "export(text)\n", "helper/R/a.R": "text <- function() 'from the library'\n", "~/.Renviron": "TOKEN=open-sesame\n"},
		prepare: `mkdir -p ~/R/library && R CMD INSTALL -l ~/R/library helper && rm -rf helper`, run: `Rscript -e '.libPaths("~/R/library"); cat(helper::text())'`, want: "from the library",
	},
	{
		name: "Common Lisp", needs: []string{"sbcl"},
		files: map[string]string{"~/quicklisp/setup.lisp": "(defun text () \"from quicklisp\")\n"},
		run:   `sbcl --noinform --no-userinit --non-interactive --load ~/quicklisp/setup.lisp --eval '(format t "~a" (text))'`, want: "from quicklisp",
	},
	{
		name: "cmake", needs: []string{"cmake", "ninja"},
		files: map[string]string{
			"CMakeLists.txt":                         "cmake_minimum_required(VERSION 3.20)\nproject(a NONE)\nfind_package(Helper REQUIRED CONFIG)\nmessage(STATUS \"${HELPER_TEXT}\")\n",
			"~/.local/lib/helper/HelperConfig.cmake": "set(HELPER_TEXT \"from the registry of packages\")\n", "~/.cmake/packages/Helper/a": "HOME/.local/lib/helper",
		},
		run: "cmake -G Ninja -B build . && cmake --build build", want: "from the registry of packages",
	},
	{
		name: "Haskell", needs: []string{"ghc"},
		files: map[string]string{"~/.cabal/store/src/Helper.hs": "module Helper where\ntext :: String\ntext = \"from the store\"\n", "Main.hs": "import Helper\nmain = putStrLn text\n"},
		run:   `ghc -v0 -outputdir "$TMPDIR/o" -i"$HOME/.cabal/store/src" Main.hs && ./Main`, want: "from the store",
	},
}

// Real toolchains work from what they keep in a home, under each kind of sandbox, and read
// no credential there. Toolchains that are not installed everywhere are for `make
// toolchains`, which sets the variable. The short form has two of them, and one kind of sandbox.
func TestToolchains(t *testing.T) {
	everything := os.Getenv("ACP_TOOLCHAINS") != ""
	tried := slices.Clone(toolchains)
	if !everything {
		tried = slices.DeleteFunc(tried, func(tool toolchain) bool { return !tool.always || missingPrograms(tool.needs) != "" })
	}
	for _, tool := range testreq.Pick(2, tried) {
		t.Run(tool.name, func(t *testing.T) {
			if name := missingPrograms(tool.needs); name != "" {
				testreq.Skip(t, name+" is not installed")
			}
			// What bubblewrap shows, namespaces of our own show, too.
			kinds := slices.DeleteFunc(slices.Clone(confining), func(kind Kind) bool { return kind == tool.not || kind == Namespaces })
			for _, kind := range testreq.Pick(1, kinds) {
				t.Run(string(kind), func(t *testing.T) { tool.try(t, kind) })
			}
		})
	}
}

func missingPrograms(names []string) string {
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			return name
		}
	}
	return ""
}

func (tool toolchain) try(t *testing.T, kind Kind) {
	g := newFixture(t, kind)
	g.fileSize = 1 << 30
	if err := os.Remove(filepath.Join(g.project, "main.go")); err != nil { // another package than theirs
		t.Fatal(err)
	}
	for name, text := range tool.files {
		text = strings.NewReplacer("/PROJECT", g.project, "HOME/", g.home+"/").Replace(text)
		if rest, ok := strings.CutPrefix(name, "~/"); ok {
			write(t, g.home, map[string]string{rest: text})
		} else {
			write(t, g.project, map[string]string{name: text})
		}
	}
	path := os.Getenv("PATH")
	for _, dir := range tool.path {
		path = filepath.Join(g.home, dir) + ":" + path
	}
	if tool.prepare != "" {
		outside := exec.CommandContext(t.Context(), "bash", "-c", tool.prepare)
		outside.Dir = g.project
		outside.Env = append(machine(t), "HOME="+g.home, "PATH="+os.Getenv("PATH"))
		if out, err := outside.CombinedOutput(); err != nil {
			t.Fatalf("prepare: %v\n%s", err, out)
		}
	}
	g.box.Environ = []string{"PATH=" + path}
	out, code := g.runFor(t, 5*time.Minute, "cd "+g.project+" && export PATH='"+path+"' && "+tool.run)
	if code != 0 || !strings.Contains(out, tool.want) {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	if out, _ := g.run(t, `grep -rIs open-sesame "$HOME"`); out != "" {
		t.Errorf("read: %s", out)
	}
}

// machine is the environment of a preparation: of what leads into the home of the machine
// only what is copied from there is known.
func machine(t *testing.T) []string {
	t.Helper()
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	var env []string
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, "XDG_") || name != "PYENV_ROOT" && name != "npm_config_userconfig" && strings.HasPrefix(value, home) {
			continue
		}
		env = append(env, entry)
	}
	cache := os.Getenv("GOMODCACHE")
	if cache == "" {
		cache = filepath.Join(home, "go", "pkg", "mod")
	}
	return append(env, "MACHINE_GOMODCACHE="+cache, "MACHINE_RUSTUP="+filepath.Join(home, ".rustup"), "MACHINE_CARGO="+filepath.Join(home, ".cargo"))
}
