// Package config reads what the user, the project and the environment have set.
//
// It owns the two JSONC files, their fields, defaults and checks, and the order in which
// they count: built-in defaults, the user's file, the environment, then the project's
// file, which may only tighten. Every error names the file, the line and column, the
// field, and what to do.
//
// It refuses to know what the settings are for: internal/app alone imports it and hands
// each package its own small struct. It imports the standard library, adrg/xdg,
// internal/regularfile and internal/strictread, which read the files, and permissions, for the
// form of a rule, and starts no goroutines. [Load] is a pure function of its [Sources]; only
// [System] looks at the process. Nothing is read before [Load] is called, so a broken file is
// met when a session opens, not at start.
//
//	cfg, err := config.Load(config.System(), cwd)
//	if err != nil {
//		return err // ".../config.jsonc:4:18: limits.max_steps: ..."
//	}
//	provider, err := openai.New(openai.Options{BaseURL: cfg.Model.BaseURL, APIKey: cfg.Model.APIKey.Reveal()})
//
// Keys are held as [Secret], which prints as "[redacted]" wherever it is printed.
//
// # Requirements
//
// R114 (where rules of the scopes user and project come from), R123 and SECURITY T1 and
// T3 (a project only tightens), D3 (keys never printed), R8, R65 and R99 (subagents), R81,
// R87. The defaults of the limits are in docs/configuration.md.
package config
