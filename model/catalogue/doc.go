// Package catalogue is the model catalogue: what is known of current models without
// asking a server. For each it holds the context window, the most tokens of one answer,
// whether it takes images and reasons, its thought levels, and prices where the
// provider charges by token.
//
//	entry, ok := catalogue.Find("deepseek", "deepseek-v4-pro")
//	if ok {
//		fmt.Println(entry.Window, entry.Price)
//	}
//
// The table models.tsv.gz is written by the program in gen, from a list that an npm
// package ships; [Date] says of when that list is. families.tsv is kept by hand, for
// models that the list no longer has. Nothing is guessed: a model is found by its exact
// id, by its id without a date, or by a family of that file; any other stays unknown.
// The configuration and what a server says of itself come before the catalogue.
//
// The table is unpacked when a model is first looked up, once, and never at the start
// of the process. The package imports the standard library and starts no goroutines.
//
// # Requirements
//
// R138 (prices of cached input), R140 (windows), R149 (the choice of model and thinking).
package catalogue

//go:generate mkdir -p ../../bin
//go:generate npm pack --silent --pack-destination ../../bin @earendil-works/pi-ai@1.5.2
//go:generate go run ./gen -package ../../bin/earendil-works-pi-ai-1.5.2.tgz
