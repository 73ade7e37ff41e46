package v1

import (
	"context"
	"time"

	"acp-agent/acp/rpc"
	"acp-agent/acp/schema"
	"acp-agent/store"
)

// methodFork is session/fork, which is a draft of the protocol. Its parameters are those of
// session/resume and its answer is that of session/new.
const methodFork = "session/fork"

// loadSession resumes a stored session and shows its whole conversation before the answer
// (R146).
func (a *Agent) loadSession(req *rpc.Request) rpc.Body {
	var params schema.LoadSessionRequest
	if err := schema.Decode(req.Params, &params); err != nil && !withoutServers(err) {
		return fail(badParams(req, err))
	}
	return a.reopen(req, opening{
		cwd: params.Cwd, additional: params.AdditionalDirectories, servers: params.MCPServers, stored: string(params.SessionID), replay: true,
	})
}

// resumeSession resumes a stored session whose conversation the client shows already (R146).
func (a *Agent) resumeSession(req *rpc.Request) rpc.Body {
	var params schema.ResumeSessionRequest
	if err := decode(req, &params); err != nil {
		return fail(err)
	}
	return a.reopen(req, resumption(params))
}

func resumption(params schema.ResumeSessionRequest) opening {
	return opening{cwd: params.Cwd, additional: params.AdditionalDirectories, servers: params.MCPServers, stored: string(params.SessionID)}
}

func (a *Agent) reopen(req *rpc.Request, o opening) rpc.Body {
	if err := o.check(req.Method); err != nil {
		return fail(err)
	}
	return func(ctx context.Context) rpc.Reply {
		if err := a.closeToReopen(o.stored); err != nil {
			return rpc.Reply{Err: err}
		}
		s, err := a.open(ctx, o)
		if err != nil {
			return rpc.Reply{Err: wireError(err)}
		}
		if o.replay {
			s.ShowState()
			s.translator.endReplay()
		}
		state := s.describe()
		return rpc.Reply{
			Result: &schema.LoadSessionResponse{Modes: state.Modes, ConfigOptions: state.ConfigOptions, Meta: state.Meta},
			Then: func() {
				if !o.replay {
					s.ShowTitle()
				}
				s.announce(a.conn)
			},
		}
	}
}

// closeToReopen ends a session that this connection has open when a request opens it anew. With a
// turn under way the session stays open, and the request is refused.
func (a *Agent) closeToReopen(id string) error {
	s := a.session(id)
	if s == nil {
		return nil
	}
	if s.Busy() {
		return rpc.Errorf(rpc.CodeInvalidRequest, "session %s is open and at work here: cancel its turn or close it first", id)
	}
	a.remove(s)
	return nil
}

// remove ends a session of this connection.
func (a *Agent) remove(s *open) {
	a.detach(s.ID)
	s.Stop()
	a.finish(s)
}

// listSessions lists the stored sessions, the one that was used last first (R147).
func (a *Agent) listSessions(req *rpc.Request) rpc.Body {
	var params schema.ListSessionsRequest
	if err := decode(req, &params); err != nil {
		return fail(err)
	}
	var o store.ListOptions
	if params.Cwd != nil {
		if err := absolute(req.Method, *params.Cwd); err != nil {
			return fail(err)
		}
		o.Cwd = *params.Cwd
	}
	if params.Cursor != nil {
		if *params.Cursor == "" {
			return fail(rpc.Errorf(rpc.CodeInvalidParams, "session/list: the cursor is empty; leave it out for the first page"))
		}
		o.Cursor = *params.Cursor
	}
	return func(context.Context) rpc.Reply {
		page, err := a.Core.List(o)
		if err != nil {
			return rpc.Reply{Err: wireError(err)}
		}
		answer := &schema.ListSessionsResponse{Sessions: schema.List[schema.SessionInfo]{}, NextCursor: page.Next}
		for _, info := range page.Sessions {
			answer.Sessions = append(answer.Sessions, sessionInfo(info))
		}
		return rpc.Reply{Result: answer}
	}
}

func sessionInfo(info store.Info) schema.SessionInfo {
	row := schema.SessionInfo{
		SessionID: schema.SessionId(info.ID), Cwd: info.Cwd, AdditionalDirectories: info.Additional,
		Title: info.Title, UpdatedAt: info.Updated.UTC().Format(time.RFC3339),
	}
	if info.ParentID != "" { // an inspectable subagent (R69)
		row.Meta = map[string]any{"acp-agent": map[string]any{
			"agent": info.Agent, "parentSessionId": info.ParentID, "parentMessageId": info.ParentMessageID,
		}}
	}
	return row
}

// forkSession copies a stored session, through a message where _meta names one, and opens the
// copy without a replay (R142).
func (a *Agent) forkSession(req *rpc.Request) rpc.Body {
	var params schema.ResumeSessionRequest
	if err := decode(req, &params); err != nil {
		return fail(err)
	}
	o := resumption(params)
	if err := o.check(req.Method); err != nil {
		return fail(err)
	}
	fork := store.ForkOptions{Cwd: o.cwd, Additional: o.additional, Through: metaMessage(params.Meta)}
	if s := a.session(o.stored); s != nil && s.Busy() {
		return fail(rpc.Errorf(rpc.CodeInvalidRequest, "session/fork: a turn of session %s is running: wait for its end or cancel it", o.stored))
	}
	return func(ctx context.Context) rpc.Reply {
		info, err := a.Core.Fork(o.stored, fork)
		if err != nil {
			return rpc.Reply{Err: wireError(err)}
		}
		o.stored = info.ID
		s, err := a.open(ctx, o)
		if err != nil {
			return rpc.Reply{Err: wireError(err)}
		}
		return rpc.Reply{Result: s.describe(), Then: func() {
			s.ShowTitle()
			s.announce(a.conn)
		}}
	}
}

// metaMessage is the message that a fork ends with: _meta["acp-agent"].messageId; "" is none.
func metaMessage(meta map[string]any) string {
	own, _ := meta["acp-agent"].(map[string]any)
	id, _ := own["messageId"].(string)
	return id
}

// deleteSession deletes a stored session, which ends first if this connection has it open
// (R147).
func (a *Agent) deleteSession(req *rpc.Request) rpc.Body {
	var params schema.DeleteSessionRequest
	if err := decode(req, &params); err != nil {
		return fail(err)
	}
	id := string(params.SessionID)
	return func(context.Context) rpc.Reply {
		if s := a.session(id); s != nil {
			a.remove(s)
		}
		if err := a.Core.Delete(id); err != nil {
			return rpc.Reply{Err: wireError(err)}
		}
		return rpc.Reply{Result: &schema.DeleteSessionResponse{}}
	}
}
