package v1

import (
	"context"
	"slices"

	"acp-agent/acp/rpc"
	"acp-agent/acp/schema"
	"acp-agent/session"
)

func (s *open) modes() *schema.SessionModeState {
	state := &schema.SessionModeState{CurrentModeID: schema.SessionModeId(s.Mode())}
	for _, m := range s.Modes() {
		state.AvailableModes = append(state.AvailableModes, schema.SessionMode{
			ID: schema.SessionModeId(m.ID), Name: m.Name, Description: m.Description,
		})
	}
	return state
}

func (s *open) configOptions() []schema.SessionConfigOption {
	var options []schema.SessionConfigOption
	for _, o := range s.Options() {
		selectOption := schema.SelectConfigOption{
			ID: schema.SessionConfigId(o.ID), Name: o.Name, Description: o.Description,
			Category: schema.SessionConfigOptionCategory(o.Category), CurrentValue: schema.SessionConfigValueId(o.Current),
		}
		selectOption.Options = selectOptions(o.Values, s.translator.out.client.flatOptions)
		options = append(options, selectOption)
	}
	return options
}

// selectOptions are the values of an option, under their headings if all have one and the
// client shows headings. Headings stand in the order of their first values.
func selectOptions(values []session.Value, noHeadings bool) schema.SessionConfigSelectOptions {
	var flat schema.SelectOptions
	var groups schema.SelectGroups
	for _, v := range values {
		one := schema.SessionConfigSelectOption{Value: schema.SessionConfigValueId(v.ID), Name: v.Name, Description: v.Description}
		flat = append(flat, one)
		at := slices.IndexFunc(groups, func(g schema.SessionConfigSelectGroup) bool { return g.Name == v.Group })
		if at < 0 {
			at = len(groups)
			groups = append(groups, schema.SessionConfigSelectGroup{Group: schema.SessionConfigGroupId(v.Group), Name: v.Group})
		}
		groups[at].Options = append(groups[at].Options, one)
	}
	if noHeadings || slices.ContainsFunc(values, func(v session.Value) bool { return v.Group == "" }) {
		return flat
	}
	return groups
}

func (a *Agent) setMode(req *rpc.Request) rpc.Body {
	var params schema.SetSessionModeRequest
	if err := decode(req, &params); err != nil {
		return fail(err)
	}
	s := a.session(string(params.SessionID))
	if s == nil {
		return fail(unknownSession(string(params.SessionID)))
	}
	if err := s.SetMode(string(params.ModeID)); err != nil {
		return fail(wireError(err))
	}
	return func(ctx context.Context) rpc.Reply {
		if err := s.Decide(ctx, session.ModeOption, string(params.ModeID)); err != nil {
			return rpc.Reply{Err: wireError(err)}
		}
		s.translator.sendRequested(modeState, optionsState)
		return rpc.Reply{Result: &schema.SetSessionModeResponse{}}
	}
}

func (a *Agent) setConfigOption(req *rpc.Request) rpc.Body {
	var params schema.SetSessionConfigOptionRequest
	if err := decode(req, &params); err != nil {
		return fail(err)
	}
	s := a.session(string(params.SessionID))
	if s == nil {
		return fail(unknownSession(string(params.SessionID)))
	}
	value := params.Value.ID
	if params.Value.IsBoolean {
		return fail(rpc.Errorf(rpc.CodeInvalidParams, "session/set_config_option: %s takes one of its values as a string", params.ConfigID))
	}
	s.translator.optionRequested()
	err := s.SetOption(string(params.ConfigID), string(value))
	return func(ctx context.Context) rpc.Reply {
		if err == nil {
			err = s.Decide(ctx, string(params.ConfigID), string(value))
		}
		if err != nil {
			return rpc.Reply{Err: wireError(err), Then: func() { s.translator.optionAnswered() }}
		}
		s.translator.sendRequested(modeState)
		options := s.configOptions()
		return rpc.Reply{
			Result: &schema.SetSessionConfigOptionResponse{ConfigOptions: options},
			Then:   func() { s.translator.optionAnswered(optionsUpdate(options)) },
		}
	}
}
