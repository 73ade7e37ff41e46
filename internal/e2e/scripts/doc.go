// Package scripts plays the scripts of testdata/scripts with the whole agent, and some of them in the
// model of each editor.
//
// It owns the statements of the scripts: play, agent, modelserver, llamaserver,
// providerserver, expand. It refuses to know the agent's insides. Only tests are in it; they start the
// agent with internal/testkit/agenttest and drive it with internal/testkit/acptest.
//
// # Requirements
//
// None of its own: the rows of docs/requirements.md name its tests.
package scripts
