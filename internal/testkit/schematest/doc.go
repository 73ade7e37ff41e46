// Package schematest judges messages by the official JSON schema of the protocol.
//
// It owns the search for the schema, which is not part of this module, and the choice of
// the definition that a message has to fit. It knows nothing of acp/schema's Go types,
// so that both can disagree. It is for tests, and imports
// internal/testkit/testreq, google/jsonschema-go and the standard library. It starts no goroutines.
//
//	v := schematest.Open(t) // skips the test where there is no schema
//	v.Observe(schematest.ToAgent, request)
//	if err := v.Message(schematest.ToClient, answer); err != nil {
//		t.Error(err)
//	}
//
// # Requirements
//
// R145, R147 (every message that is sent fits the schema).
package schematest
