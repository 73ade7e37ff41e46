// Package rules holds the rules of this repository as tests, in rules_test.go: which
// package may import which, what code may not do, and what every package has to have.
//
// It owns no code: the agent is cmd/acp-agent, and ARCHITECTURE.md is the way in. It
// imports the standard library only and starts no goroutines.
//
//	go test .
//
// # Requirements
//
// R12 (tools reach the system through their runtime alone) and the house rules of
// CONTRIBUTING.md.
package rules
