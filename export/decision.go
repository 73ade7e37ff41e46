package export

import "acp-agent/audit"

// ReadDecisions adds who allowed or refused each call of a session, by its audit in a directory.
// What the audit does not say is not known.
func ReadDecisions(dir, session string, into map[string]Decision) {
	_ = audit.Read(dir, session, func(r audit.Record, _ []byte) error {
		if _, known := into[r.Call]; r.Call != "" && r.Verdict != "" && (!known || r.Event == audit.End) {
			into[r.Call] = Decision{Verdict: r.Verdict, By: r.By, Reason: r.Reason}
		}
		return nil
	})
}
