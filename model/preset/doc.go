// Package preset holds what is known of model servers by name: address, variable of the
// key, API, and how a thought level is sent. One preset is one file in presets, with the
// public pages that say so.
//
//	p, ok := preset.Find("deepseek")
//	fmt.Println(p.BaseURL, p.KeyEnv)
//
// A preset is a default for a provider of the configuration, which may set each of its
// fields otherwise. Files are read when presets are first asked for, not at the start of
// the process. The package imports the standard library and a parser of JSON with
// comments; it starts no goroutines and reads no environment.
//
// # Requirements
//
// R149 (the choice of a model), R165 (servers).
package preset
