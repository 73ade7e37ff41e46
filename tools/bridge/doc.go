// Package bridge turns foreign records of tool calls and their results into
// ours and back, without loss (R6, R7).
//
// Two families of records are known. Amp's has a status:
//
//	{"status":"done","result":…,"trackFiles":[…]}
//	{"status":"error","error":{"message":…,"errorCode":…,"absolutePath":…}}
//
// Amplifier's has a success flag, true when it is left out:
//
//	{"success":true,"output":…}
//	{"success":false,"error":{"message":…,"type":…}}
//
// Both decode into an [Outcome]: the envelope of R5, the state of R125, and a
// [Form], which remembers how the foreign record was spelled. Envelope and state
// are the meaning and survive the way there and back whole; with the Form a
// record in canonical JSON (UTF-8, no escapes that are not needed) also comes
// back byte for byte, its unknown keys, its nulls and the order of its keys
// included.
//
//	outcome, err := bridge.DecodeAmplifier([]byte(`{"output":42}`))
//	outcome.Envelope.Data          // 42
//	bridge.EncodeAmp(outcome)      // {"status":"done","result":42}
//
// What a record has no key for rides in one extra key, "metadata": the
// duration, truncation, output path, kind and refuser, for Amplifier also the
// state and the tracked files. An error envelope never has data: what a foreign
// error carries beside its error is kept in ErrorDetail.Details.
//
// [FromAmplifier] and [ToAmplifier] do the same for tools written against
// Amplifier's interface.
//
// The agent itself only decodes: what a script, a module or a provider answers. The
// way back, [EncodeAmp], [EncodeAmplifier], [ToolCall] and the two conversions of
// tools, has no caller in the program. R6 and R7 ask for both ways, and the way back is
// what shows that the way there loses nothing; hosts that carry our tools elsewhere
// use it.
//
// It imports tools, transcript and the JSON schema library, and starts no
// goroutine. It knows neither where tools come from (tools/mount) nor how a
// call is judged.
//
// # Requirements
//
// R6, R7.
package bridge
