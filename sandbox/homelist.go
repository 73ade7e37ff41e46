package sandbox

// shownGroup is a part of the allow-list of a home directory.
type shownGroup struct {
	why   string
	names []string
}

// shownHome is what a command sees of the home directory, as paths beneath it. A name
// stands here because a toolchain finds its programs, its packages or its compiled caches
// there. A directory that holds credentials too is not named; its parts are. Caches
// that a command gets a copy of its own of (buildCaches) are left out.
var shownHome = [...]shownGroup{
	{"programs that users install for themselves", []string{
		".local/bin", "bin", ".local/lib", ".local/libexec", ".local/include", ".local/opt", ".linuxbrew",
		".nix-profile", ".local/state/nix/profiles", ".guix-profile", ".config/guix/current",
	}},
	{"version managers", []string{
		".asdf", ".local/share/mise", ".local/share/rtx", ".sdkman", ".jenv", ".jabba", ".jdks",
		".nvm", ".config/nvm", ".volta", ".fnm", ".local/share/fnm", ".local/state/fnm_multishells", ".n", "n", ".nodenv", ".nodebrew",
		".pyenv", ".local/share/uv", ".rye", ".pixi/bin", ".pixi/envs", ".goenv", ".gvm", ".rbenv", ".rvm", ".rubies", ".phpenv", ".phpbrew",
		".plenv", ".perlbrew", ".luaver", ".lenv", ".kerl", ".kiex", ".exenv", ".swiftenv", ".local/share/swiftly", ".ghcup", ".juliaup",
		".choosenim", ".zvm", ".elan", ".fvm", "fvm", ".tfenv", ".local/share/proto", ".proto/bin", ".proto/shims", ".proto/tools", ".vfox/sdks", ".vfox/cache",
	}},
	{"Go", []string{"go/bin", "go/pkg", "sdk"}},
	{"Rust", []string{".cargo/bin", ".cargo/env", ".cargo/registry", ".cargo/git", ".rustup"}},
	{"JavaScript", []string{
		".local/share/pnpm", ".pnpm-store", ".local/share/corepack", ".cache/node", ".cache/node-gyp", ".node-gyp", ".npm-global", ".npm-packages",
		".yarn", ".config/yarn/global", ".bun/bin", ".bun/install", ".deno", ".cache/deno", ".cache/esbuild", ".cache/typescript",
		".cache/ms-playwright", ".cache/puppeteer", ".cache/Cypress", ".cache/electron", ".cache/electron-builder", ".cache/prisma", ".cache/turbo",
	}},
	{"Python", []string{
		".local/share/pipx", ".local/pipx", ".virtualenvs", ".local/share/virtualenvs", ".venvs", ".cache/pypoetry", ".local/share/pypoetry", ".poetry",
		".local/share/hatch", ".local/share/pdm", ".cache/pdm", ".conda/envs", ".conda/pkgs", ".conda/environments.txt", "miniconda3", "anaconda3",
		"miniforge3", "mambaforge", "micromamba", ".micromamba", ".mamba/pkgs", ".local/share/mamba", ".local/share/jupyter/kernels",
		"nltk_data", "scikit_learn_data", ".keras", ".cache/torch", ".cache/matplotlib", ".cache/huggingface/hub", ".cache/huggingface/datasets",
		".cache/huggingface/modules", ".cache/huggingface/xet",
	}},
	{"the JVM", []string{
		".m2/repository", ".m2/wrapper", ".m2/toolchains.xml", ".gradle/caches", ".gradle/wrapper", ".gradle/jdks", ".gradle/native",
		".ivy2/cache", ".ivy2/local", ".sbt/boot", ".sbt/launchers", ".sbt/repositories", ".sbt/1.0/plugins", ".sbt/1.0/staging",
		".coursier/cache", ".cache/coursier", ".local/share/coursier", ".lein/self-installs", ".clojure/tools", ".gitlibs", ".groovy/grapes",
		".konan", ".openjfx/cache", "Android/Sdk",
	}},
	{".NET", []string{".dotnet", ".nuget/packages", ".local/share/NuGet"}},
	{"Ruby", []string{".gem/ruby", ".gem/jruby", ".local/share/gem/ruby", ".bundle/cache", ".bundle/plugin", ".cocoapods/repos"}},
	{"PHP", []string{".composer/vendor", ".composer/cache", ".config/composer/vendor", ".cache/composer"}},
	{"Perl and Lua", []string{"perl5", ".luarocks/bin", ".luarocks/lib", ".luarocks/share"}},
	{"Haskell and OCaml", []string{
		".cabal/bin", ".cabal/lib", ".cabal/packages", ".cabal/store", ".cache/cabal", ".local/state/cabal",
		".stack/programs", ".stack/snapshots", ".stack/pantry", ".stack/setup-exe-cache", ".opam", ".cache/dune", ".esy",
	}},
	{"Erlang and Elixir", []string{".mix/archives", ".mix/elixir", ".mix/escripts", ".mix/rebar", ".mix/rebar3", ".hex/packages", ".cache/rebar3", ".cache/mix"}},
	{"C, C++ and embedded", []string{
		".conan/data", ".conan/profiles", ".conan2/p", ".conan2/profiles", ".conan2/settings.yml", ".vcpkg", "vcpkg", ".cache/vcpkg", ".xmake/packages",
		".cmake/packages", ".platformio/packages", ".platformio/platforms", ".platformio/penv", ".arduino15/packages", "Arduino/libraries",
		".espressif", ".emscripten_cache", ".cache/bazel", ".cache/bazelisk", ".cache/sccache",
	}},
	{"other languages", []string{
		".julia/packages", ".julia/artifacts", ".julia/compiled", ".julia/registries", ".julia/environments", ".julia/juliaup", ".julia/clones",
		"R", ".cache/R", ".local/share/renv", ".nimble/bin", ".nimble/pkgs", ".nimble/pkgs2", ".cache/nim", ".cache/zig", ".cache/crystal",
		".cache/shards", ".dub/packages", ".vmodules", ".pub-cache/bin", ".pub-cache/hosted", ".pub-cache/git", ".pub-cache/global_packages", "flutter",
		".swiftpm/cache", ".quicklisp", "quicklisp", ".elm", ".spago", ".racket", ".local/share/racket", "texmf", ".TinyTeX", ".wasmtime", ".foundry/bin", ".svm",
		".terraform.d/plugins", ".terraform.d/plugin-cache",
	}},
	{"fonts and terminals", []string{".fonts", ".local/share/fonts", ".config/fontconfig", ".cache/fontconfig", ".terminfo", ".texlive"}},
	{"scripts of skills", []string{".agents/skills", ".claude/skills", ".config/acp-agent/skills"}},
	{"macOS", []string{
		"Library/pnpm", "Library/Python", "Library/Java", "Library/Fonts", "Library/Android/sdk", "Library/Developer/Xcode/DerivedData",
		"Library/Developer/CommandLineTools", "Library/Application Support/fnm", "Library/Application Support/Coursier",
		"Library/Caches/Homebrew", "Library/Caches/Coursier", "Library/Caches/deno", "Library/Caches/ms-playwright", "Library/Caches/Cypress",
		"Library/Caches/electron", "Library/Caches/node-gyp", "Library/Caches/pypoetry", "Library/Caches/CocoaPods", "Library/Caches/org.swift.swiftpm",
	}},
}

// shownSettings are settings that toolchains read in a home. Most hold no credential, and
// each may: a password in the address of a registry, a token in a header. One that does
// is hidden (clean).
var shownSettings = [...]string{
	".gitconfig", ".config/git/config", ".config/git/ignore", ".config/git/attributes", ".gitignore", ".gitignore_global", ".gitattributes", ".gitmessage",
	".hgrc", ".config/hg/hgrc", ".editorconfig", ".tool-versions", ".asdfrc", ".config/mise/config.toml", ".mise.toml", ".config/mise/settings.toml",
	".python-version", ".node-version", ".nvmrc", ".ruby-version", ".java-version", ".config/go/env", ".cargo/config", ".cargo/config.toml",
	".config/rustfmt/rustfmt.toml", ".rustfmt.toml", ".config/pip/pip.conf", ".pip/pip.conf", ".config/uv/uv.toml", ".condarc", ".config/pypoetry/config.toml",
	".config/flake8", ".pylintrc", ".config/ruff/ruff.toml", ".config/black", ".prettierrc", ".eslintrc", ".eslintrc.json", ".config/gem/gemrc", ".gemrc",
	".config/composer/config.json", ".composer/config.json", ".luarocks/default-lua-version.lua", ".cabal/config", ".config/cabal/config", ".stack/config.yaml",
	".bazelrc", ".config/nix/nix.conf", ".config/nixpkgs/config.nix", ".ripgreprc", ".ignore", ".clang-format", ".inputrc", ".latexmkrc", ".lein/profiles.clj",
	".clojure/deps.edn", ".sbt/1.0/global.sbt", ".m2/settings.xml", ".nuget/NuGet/NuGet.Config", ".config/NuGet/NuGet.Config", ".conan2/remotes.json", ".conan2/global.conf",
}

// toolVariable is a variable that names a toolchain's directory.
type toolVariable struct {
	name  string
	parts []string
}

// toolVariables are the variables by which users move a toolchain's directory, with
// what of it a command sees; no names means all of it. What lies in the home and is
// named by one is shown as if it lay where it usually does ([Box.opens] limits it).
var toolVariables = [...]toolVariable{
	{"GOPATH", []string{"bin", "pkg"}},
	{"GOBIN", nil},
	{"GOMODCACHE", nil},
	{"GOROOT", nil},
	{"CARGO_HOME", []string{"bin", "env", "registry", "git"}},
	{"RUSTUP_HOME", nil},
	{"NVM_DIR", nil},
	{"VOLTA_HOME", nil},
	{"FNM_DIR", nil},
	{"FNM_MULTISHELL_PATH", nil},
	{"N_PREFIX", []string{"bin", "lib", "n"}},
	{"NODENV_ROOT", nil},
	{"PNPM_HOME", nil},
	{"COREPACK_HOME", nil},
	{"DENO_DIR", nil},
	{"DENO_INSTALL", nil},
	{"DENO_INSTALL_ROOT", nil},
	{"BUN_INSTALL", []string{"bin", "install"}},
	{"PLAYWRIGHT_BROWSERS_PATH", nil},
	{"PYENV_ROOT", nil},
	{"VIRTUAL_ENV", nil},
	{"CONDA_PREFIX", nil},
	{"CONDA_ROOT", nil},
	{"MAMBA_ROOT_PREFIX", nil},
	{"WORKON_HOME", nil},
	{"PIPX_HOME", nil},
	{"POETRY_HOME", nil},
	{"POETRY_CACHE_DIR", nil},
	{"UV_PYTHON_INSTALL_DIR", nil},
	{"UV_TOOL_DIR", nil},
	{"RYE_HOME", nil},
	{"JAVA_HOME", nil},
	{"SDKMAN_DIR", nil},
	{"JENV_ROOT", nil},
	{"M2_HOME", nil},
	{"MAVEN_HOME", nil},
	{"GRADLE_HOME", nil},
	{"KOTLIN_HOME", nil},
	{"SCALA_HOME", nil},
	{"GRADLE_USER_HOME", []string{"caches", "wrapper", "jdks", "native"}},
	{"COURSIER_CACHE", nil},
	{"ANDROID_HOME", nil},
	{"ANDROID_SDK_ROOT", nil},
	{"ANDROID_NDK_HOME", nil},
	{"DOTNET_ROOT", nil},
	{"NUGET_PACKAGES", nil},
	{"GEM_HOME", nil},
	{"RBENV_ROOT", nil},
	{"rvm_path", nil},
	{"COMPOSER_HOME", []string{"vendor", "cache"}},
	{"PERL_LOCAL_LIB_ROOT", nil},
	{"PERLBREW_ROOT", nil},
	{"PLENV_ROOT", nil},
	{"GHCUP_INSTALL_BASE_PREFIX", []string{".ghcup"}},
	{"CABAL_DIR", []string{"bin", "lib", "packages", "store"}},
	{"STACK_ROOT", []string{"programs", "snapshots", "pantry"}},
	{"OPAMROOT", nil},
	{"MIX_HOME", []string{"archives", "elixir", "escripts", "rebar", "rebar3"}},
	{"HEX_HOME", []string{"packages"}},
	{"PUB_CACHE", []string{"bin", "hosted", "git", "global_packages"}},
	{"FLUTTER_ROOT", nil},
	{"NIMBLE_DIR", []string{"bin", "pkgs", "pkgs2"}},
	{"ASDF_DIR", nil},
	{"ASDF_DATA_DIR", nil},
	{"MISE_DATA_DIR", nil},
	{"JULIA_DEPOT_PATH", []string{"packages", "artifacts", "compiled", "registries", "environments", "juliaup", "clones"}},
	{"R_LIBS_USER", nil},
	{"VCPKG_ROOT", nil},
	{"CONAN_HOME", []string{"p", "profiles", "settings.yml"}},
	{"IDF_PATH", nil},
	{"EMSDK", nil},
	{"HF_HOME", []string{"hub", "datasets", "modules", "xet"}},
	{"HOMEBREW_PREFIX", nil},
}

// settingVariable leads a program past its settings in the home.
type settingVariable struct {
	name  string // of the settings, beneath the home
	entry string // what is added to the environment
	inTmp bool   // the value lies in the directory for temporary files
}

// settingVariables are for a sandbox that cannot make a file look absent (Landlock): these
// programs fail where settings are there and cannot be read.
var settingVariables = [...]settingVariable{
	{".bundle/config", "BUNDLE_USER_CONFIG=/dev/null", false},
	{".npmrc", "NPM_CONFIG_USERCONFIG=/dev/null", false},
	{".Renviron", "R_ENVIRON_USER=/dev/null", false},
	{".config/pip/pip.conf", "PIP_CONFIG_FILE=/dev/null", false},
	{".composer/auth.json", "COMPOSER_HOME=composer", true},
	{".config/composer/auth.json", "COMPOSER_HOME=composer", true},
}

// inShown are the credentials that lie within what is shown, as patterns beneath the
// home. They stay masked.
var inShown = [...]string{
	".nvm/versions/node/*/etc/npmrc", ".config/nvm/versions/node/*/etc/npmrc", ".volta/tools/image/node/*/etc/npmrc", ".nodenv/versions/*/etc/npmrc",
	".asdf/installs/nodejs/*/etc/npmrc", ".local/share/mise/installs/node/*/etc/npmrc", ".local/share/fnm/node-versions/*/installation/etc/npmrc",
	".npm-global/etc/npmrc", ".npm-packages/etc/npmrc", ".local/share/pnpm/.npmrc", ".local/share/uv/credentials", ".local/share/pypoetry/auth.toml",
	".pyenv/versions/*/pip.conf", ".virtualenvs/*/pip.conf", ".dotnet/corefx", ".opam/plugins/opam-publish", ".sdkman/etc/credentials",
	".local/share/NuGet/plugins-cache", ".gem/ruby/credentials", ".m2/repository/.credentials",
}

// broad are the directories of a home that hold what belongs to many programs, or what
// users write themselves: no variable and no program's place opens one of them.
var broad = [...]string{
	".config", ".local", ".local/share", ".local/state", ".cache", "Library", "Library/Application Support", "Library/Caches", "Library/Preferences",
	"Desktop", "Documents", "Downloads", "Music", "Pictures", "Public", "Templates", "Videos", "Movies",
}
