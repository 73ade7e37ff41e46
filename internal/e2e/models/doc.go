// Package models tests the whole agent against model servers: dialects, failures, silence, and a day
// of turns; a real llama.cpp server, too (make llama).
//
// The servers are those of internal/testkit. It refuses to know the agent's insides. Only tests are in it; they start the
// agent with internal/testkit/agenttest and drive it with internal/testkit/acptest.
//
// # Requirements
//
// None of its own: the rows of docs/requirements.md name its tests.
package models
