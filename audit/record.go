package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// The events.
const (
	// Begin is a call that was allowed, may change something, and runs next.
	Begin = "begin"
	// End is a call that has ended, run or not.
	End = "end"
	// Kept is a rule, Tool and Touches, that the user kept for the project by a command.
	Kept = "kept"
	// Opened is a port of a job, the one of the call Call, that the user opened at the address Touches of the machine;
	// Closed is its end.
	Opened = "opened"
	Closed = "closed"
	// Reached is the decision about a host, Touches, that the command of the call Call reached for, or the program
	// of the MCP server Server.
	Reached = "reached"
	// Recovered follows a line that is not a record, see Cut.
	Recovered = "recovered"
	// Full is the last record of a file that has reached its size.
	Full = "full"
)

// Record is one line. Callers of Append leave the fields empty that the Log fills in.
type Record struct {
	Version int       `json:"v"`    // filled in
	Seq     int64     `json:"seq"`  // filled in; from 1
	Time    time.Time `json:"time"` // filled in
	Session string    `json:"session"`
	Event   string    `json:"event"`
	Call    string    `json:"call,omitempty"`
	// Agent is the agent of the call: the names from the main agent down.
	Agent string `json:"agent,omitempty"`
	Tool  string `json:"tool,omitempty"`
	// Source is the kind of source of a tool from elsewhere ("mcp", "toolbox", "provider",
	// "module"), Server the server or provider, and Name its name there if Tool does not show it.
	Source string `json:"source,omitempty"`
	Server string `json:"server,omitempty"`
	Name   string `json:"name,omitempty"`
	// Workspace is the session's directory.
	Workspace string `json:"workspace,omitempty"`
	// Given are the arguments as decoded JSON, from which a Log fills in Args.
	Given any `json:"-"`
	// Args is the part of the arguments that is kept; see Summary.
	Args json.RawMessage `json:"args,omitempty"` // filled in
	// Touches are the paths, hosts and commands that the call named.
	Touches []string `json:"touches,omitempty"`
	// Verdict is "allow" or "deny"; "" when the call ended before a decision. By says who decided,
	// Reason why. Asked is the question to the user.
	Verdict string `json:"verdict,omitempty"`
	By      string `json:"by,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Asked   string `json:"asked,omitempty"`
	// Scope is how long a decision about a host holds that a rule did not make: "once" (for a server, while its
	// program runs), "session" or "project".
	Scope string `json:"scope,omitempty"`
	// Mode is the session's mode.
	Mode string `json:"mode,omitempty"`
	// State is how the call ended, Error why it failed.
	State string `json:"state,omitempty"`
	Error string `json:"error,omitempty"`
	// Changes are the files that the call changed; Unseen says where the agent did not look for
	// changes.
	Changes []Change `json:"changes,omitempty"`
	Unseen  string   `json:"unseen,omitempty"`
	Cut     *Cut     `json:"cut,omitempty"`
	// Prev is the hash of the record before.
	Prev string `json:"prev"` // filled in
}

// Change is one change of a file.
type Change struct {
	Path string `json:"path"`
	// Op is "create", "modify" or "delete", or "reported" where only the tool itself
	// says that the file changed.
	Op string `json:"op"`
	// Before and After are the SHA-256 of the contents; "" when there was no file, or it was not
	// read.
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	// Seen marks a change that was found by comparing files before and after a command: the command
	// has probably made it.
	Seen bool `json:"seen,omitempty"`
	// Undo marks a change that took back an earlier one.
	Undo bool `json:"undo,omitempty"`
}

// Cut is a line that is not a record.
type Cut struct {
	Bytes int    `json:"bytes"`
	Hash  string `json:"sha256"`
}

const version = 1

// zeroHash is Prev of the first record.
var zeroHash = strings.Repeat("0", 2*sha256.Size)

// seal is the member that ends a line.
const seal = `,"hash":"`

// encode returns a record as its line, and its hash.
func (r Record) encode() (line []byte, hash string, err error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(r); err != nil {
		return nil, "", err
	}
	text := bytes.TrimSuffix(b.Bytes(), []byte("}\n"))
	hash = hashOf(text)
	return fmt.Appendf(text, "%s%s\"}\n", seal, hash), hash, nil
}

var (
	errNoRecord = errors.New("it is not a record")
	errEdited   = errors.New("its content is not what it was when it was written")
)

// decode parses a line without its line break. The error is errNoRecord or errEdited.
func decode(line []byte) (r Record, hash string, err error) {
	at := len(line) - len(seal) - 2*sha256.Size - len(`"}`)
	if at < 0 || !bytes.HasPrefix(line[at:], []byte(seal)) || !bytes.HasSuffix(line, []byte(`"}`)) {
		return r, "", errNoRecord
	}
	hash = string(line[at+len(seal) : len(line)-len(`"}`)])
	if json.Unmarshal(line, &r) != nil {
		return r, "", errNoRecord
	}
	if hash != hashOf(line[:at]) {
		return r, "", errEdited
	}
	return r, hash, nil
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
