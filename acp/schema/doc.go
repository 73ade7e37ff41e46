// Package schema holds the Go types of the Agent Client Protocol, version 1.
//
// The `*_gen.go` files are written by the program in gen from the official JSON schema,
// whose version gen/pin.go pins; names of types are the schema's own. The files
// by hand hold what all of them share, and the few types whose shape a rule cannot give.
//
// It owns the shape of messages and nothing else: it holds no transport, no state, and
// no meaning beyond what the schema says. It imports the standard library only, and
// starts no goroutines.
//
// # Shapes
//
// A union is a sealed interface, its variants are plain structs whose discriminator is
// a field that needs no setting:
//
//	schema.SessionNotification{
//		SessionID: id,
//		Update:    schema.AgentMessageChunk{Content: schema.TextContent{Text: "hello"}},
//	}
//
// A variant that this version does not know decodes into the union's Unknown type, which
// keeps its JSON. An optional value that is absent is nil, or empty where empty and
// absent mean the same. A [List] that is required encodes as `[]` when nil, one that is
// optional is left out when nil. [Nullable] stands where null and absent differ.
//
// # Decoding
//
// Every struct decodes leniently where the schema says so: elements of lists that make
// no sense are skipped, and so are optional values; null is the same as absent. A
// missing or malformed required field is a [FieldError] that names it by its path, such
// as `prompt[2].text`. Use [Decode] for parameters that a transport has checked to be
// JSON already; encoding/json works too.
//
// # Requirements
//
// R145, R147 (messages and their fields).
package schema

//go:generate go run ./gen
