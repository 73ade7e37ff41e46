package replay

import "encoding/json"

// skipped reports whether an entry is not passed to the agent.
func (m *matcher) skipped(entry int) bool { return m.skip[entry] }

// passing notes that the agent is about to get a line.
func (m *matcher) passing(entry int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.inHand = entry
}

// handled notes that the agent has handled the line that it got last.
func (m *matcher) handled() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.inHand >= 0 {
		m.player.Finish(m.inHand)
	}
	m.inHand = -1
}

// input returns a recorded line of the client with the ids of this process.
func (m *matcher) input(data []byte) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	var text string
	if json.Unmarshal(data, &text) == nil {
		return []byte(text) // a line that is not JSON
	}
	data = agentID().ReplaceAllFunc(data, func(id []byte) []byte {
		if live, ok := m.compare.toLive[string(id)]; ok {
			return []byte(live)
		}
		return id
	})
	var l line
	if json.Unmarshal(data, &l) != nil || l.Method != "" {
		return data
	}
	if live, ok := m.requestIDs[string(l.ID)]; ok && live != string(l.ID) {
		return withID(data, live)
	}
	return data
}

// withID returns a response as one to the request with an id.
func withID(response []byte, id string) []byte {
	var members map[string]json.RawMessage
	if json.Unmarshal(response, &members) != nil {
		return response
	}
	members["id"] = json.RawMessage(id)
	changed, err := json.Marshal(members)
	if err != nil {
		return response
	}
	return changed
}
