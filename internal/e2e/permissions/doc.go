// Package permissions tests what the whole agent allows and records: the case files of the permissions, in
// real bash too, the judge without a sandbox, keys that must not turn up anywhere, and the audit.
//
// It owns the programs that try to escape. It refuses to know the agent's insides. Only tests are in it; they start the
// agent with internal/testkit/agenttest and drive it with internal/testkit/acptest.
//
// # Requirements
//
// None of its own: the rows of docs/requirements.md name its tests.
package permissions
