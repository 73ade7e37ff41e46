package session

import (
	"cmp"
	"context"
	"slices"

	"acp-agent/permissions"
	"acp-agent/subagent"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// Open makes a session. It reads the project's skills and instructions, and contacts no server. A
// configuration that is not enough to work with is an error here, so that the editor shows it before
// the user has typed anything.
func (h *Host) Open(ctx context.Context, spec Spec) (*Session, error) {
	return h.open(ctx, opened{host: h, spec: spec})
}

// Resume opens a stored session again (R146). The error is a *store.BusyError when another process has
// it open, and store.ErrNotFound when there is none.
func (h *Host) Resume(ctx context.Context, id string, spec Spec) (*Session, error) {
	return h.open(ctx, opened{ID: id, host: h, spec: spec, stored: true})
}

func (h *Host) open(ctx context.Context, o opened) (_ *Session, err error) {
	spec := o.spec
	backend, err := h.Backend()
	if err != nil {
		return nil, err
	}
	settings, offer, err := h.configure(spec.Cwd)
	if err != nil {
		return nil, err
	}
	if o.settings = settings; spec.Queue == nil { // one for the agents and the servers
		spec.Queue = tools.NewQuestionQueue()
		o.spec = spec
	}
	if !o.stored {
		o.ID = h.IDs.New(transcript.SessionPrefix)
	}
	s := &Session{opened: o}
	live, span := h.Tracer.Session(context.WithoutCancel(ctx), s.ID)
	s.life = newLifetime(live, span)
	s.spec.Person = recordPerson(h.Tape, s.ID, s.life, spec.Person)
	s.conversation = s.newConversation()
	s.performer = &performer{cwd: spec.Cwd, conversation: s.conversation, asker: spec.Asker, tape: h.Tape, logger: h.Logger}
	defer func() {
		if err != nil {
			s.life.end(err)
			s.conversation.archive.close()
			span.End(err)
		}
	}()
	archive := s.conversation.archive
	if err = archive.open(s.opened, s.conversation); err != nil {
		return nil, err
	}
	var chosen storedChoices
	_, _ = archive.get(choicesKey, &chosen) // else the session is as configured
	s.choices = s.newChoices(backend, chosen)
	if s.secrets, err = newSecrets(h, settings); err != nil {
		return nil, err
	}
	jobs := s.newJobs()
	system := h.readSystemContext(ctx, spec, s.secrets.holds)
	if s.work, err = s.openWorkspace(system, archive, jobs.hooks()); err != nil {
		// Its directories are the client's choice.
		err = &tools.Error{Kind: tools.BadInput, Message: err.Error(), Err: err}
		return nil, err
	}
	jobs.running = s.work.Runner().Jobs()
	s.secrets.tracked.setWorkspace(s.work, slices.Concat([]string{spec.Cwd}, spec.Additional))
	if err = s.equipMainAgent(offer, system, chosen.Agent, jobs); err == nil {
		err = s.resume(ctx)
	}
	if err != nil {
		s.work.Close(0)
		return nil, err
	}
	s.turns = newTurnQueue(s.life.ctx, s.newTurnRunner().run, s.agents.tree.Abort)
	s.turns.reach = func(point string) { h.Tape.Reach(point, s.ID) }
	return s, nil
}

func (s *Session) newTurnRunner() *turnRunner {
	return &turnRunner{
		opened: s.opened, conversation: s.conversation, choices: s.choices, project: s.rules.project, sources: s.sources,
		prompts: s.prompts, agents: s.agents, assembler: s.assembler, checkpoints: s.checkpoints, notices: s.startupNotices(),
		answer: s.answer, save: s.save,
	}
}

// startupNotices returns the notices about parts of the configuration that cannot be used.
func (s *Session) startupNotices() startupNotices {
	return startupNotices{
		host: s.host, context: s.assembler.briefing.context, project: s.rules.project, agents: s.agents, custom: s.prompts.custom,
		modes: s.choices.modes,
	}
}

func (s *Session) newConversation() *conversation {
	account := &account{
		sessionID: s.ID, price: s.settings.Subagents.Price,
		children: func() []subagent.Statement { return s.agents.tree.Statements() },
	}
	c := newConversation(conversationOptions{
		sessionID: s.ID, ids: s.host.IDs, sink: s.spec.Sink, bus: s.host.Bus, watch: s.watch, archive: newArchive(s.ID, s.host.Logger),
	}, account)
	c.naming = s.newNaming(c.emit)
	return c
}

// newChoices returns the choices with which the session opens: the stored ones, else the configured
// ones.
func (s *Session) newChoices(backend Backend, stored storedChoices) *choices {
	h := s.host
	emit, notices := s.conversation.emit, s.conversation.notices
	warn := func(text string) {
		s.noticeProblem(s.conversation, text, transcript.Notice{Severity: transcript.Warning, Title: "Model server", Text: text})
	}
	c := newChoices(newModes(modeOptions{
		life: s.life, sandbox: h.Sandbox, emit: emit, notices: notices, changed: func() { s.rules.project.applyMode() },
		writable: slices.Concat([]string{s.spec.Cwd}, s.spec.Additional, s.settings.WriteRoots), own: slices.Concat(h.Own, []string{h.Home}),
	}, cmp.Or(stored.Mode, s.settings.Mode)), newModels(modelOptions{life: s.life, catalogue: &h.catalogue, emit: emit, warn: warn}, backend))
	c.restore(stored)
	return c
}

// equipMainAgent makes the parts with which the main agent works: its rules, tools and prompts. The
// order counts, because later parts are made of earlier ones.
func (s *Session) equipMainAgent(offer projectOffer, system systemContext, agent string, jobs *jobs) error {
	h := s.host
	s.rules = s.newRuleBook(offer)
	s.agents = &agents{opened: s.opened, project: s.rules.project}
	s.agents.sortTools(h.Registry)
	s.sources = newSources(sourcesOptions{
		opened: s.opened, project: s.rules.project, conversation: s.conversation, policy: s.rules.policy, audit: s.rules.audit, adopt: s.agents.adopt,
	})
	s.rules.hosts = &s.sources.servers.hosts
	jobs.audit = s.rules.audit
	playHappened(s.opened, jobs, s.sources.servers, s.conversation)
	s.prompts = &promptReader{
		opened: s.opened, conversation: s.conversation, models: s.choices.models, sources: s.sources, agents: s.agents, performer: s.performer,
		custom: &customCommands{opened: s.opened, project: s.rules.project, changed: func() { s.conversation.emit(transcript.CommandsChanged{}) }},
	}
	s.rules.project.refresh()
	if err := s.agents.choose(agent); err != nil {
		return err
	}
	if manifest := s.agents.manifest; manifest.Name != h.Manifest.Name {
		if manifest.Model != "" {
			s.choices.models.set(manifest.Model)
		}
		s.rules.policy.ApplyManifest(delegation(manifest))
	}
	s.assembler = &assembler{
		opened: s.opened, conversation: s.conversation, choices: s.choices, rules: s.rules, sources: s.sources, agents: s.agents,
		jobs: jobs, briefing: &briefing{
			opened: s.opened, choices: s.choices, agents: s.agents, sources: s.sources,
			context: system, environment: newEnvironment(s.opened, system),
		},
	}
	s.assembler.newTree(func(message *transcript.Message, text string, after <-chan struct{}) {
		s.host.Tape.Reach("report of a subagent", s.ID)
		s.turns.deliver(message, text, after)
	})
	s.checkpoints = newCheckpoints(s.work, s.conversation, s.agents, s.sources, s.performer)
	var err error
	if s.agents.tools, err = s.assembler.pipeline(); err != nil {
		return err
	}
	s.agents.node.SetTools(s.agents.tools)
	return nil
}

func (s *Session) newJobs() *jobs {
	return &jobs{
		conversation: s.conversation, tape: s.host.Tape, logger: s.host.Logger,
		report: func(m synthetic) { s.turns.add(&Turn{synthetic: &m}) },
	}
}

// newRuleBook makes the rules of the session and of its project.
func (s *Session) newRuleBook(offer projectOffer) *ruleBook {
	h := s.host
	policy := pipeline.NewPolicy(permissions.Set{}.With(permissions.User, s.settings.Rules.User...).With(permissions.Session, s.spec.Rules...))
	return &ruleBook{
		policy: policy, below: newAgentPolicies(), registry: h.Registry, audit: newAudit(s.opened, s.conversation),
		project: newProject(projectOptions{
			dir: s.work.Session().Cwd, store: h.Projects, tape: h.Tape,
			configure: func() (Settings, projectOffer, error) { return h.configure(s.spec.Cwd) },
			rules:     s.settings.Rules.Project, policy: policy, mode: s.choices.modes.enforced,
			trustChanged: func() {
				s.sources.servers.applyTrust()
				s.prompts.custom.refresh()
			},
		}, offer),
		identity: func(tool string) permissions.Identity { return s.agents.tools.Identity(tool) },
		mode:     s.choices.modes.now,
		work:     s.work,
	}
}

func (s *Session) newNaming(emit func(transcript.Event)) *naming {
	o := namingOptions{sessionID: s.ID, life: s.life, emit: emit, clean: s.host.Keys.Known, logger: s.host.Logger, tape: s.host.Tape}
	if s.settings.Subagents.Slots[titleAgent].Model != "" {
		o.generate = func(ctx context.Context) (string, error) {
			return s.assembler.runInternalAgent(ctx, titleAgent, conversationText(s.conversation.log.Messages()))
		}
	}
	return &naming{namingOptions: o}
}

// watch passes an event on to the parts of the session that depend on it, before the client sees it.
func (s *Session) watch(event transcript.Event) {
	end := callEnd(event)
	if path := end.Result.Metadata.OutputPath; path != "" && s.host.Store != nil {
		sidecars{s.opened, s.conversation.archive}.store(path)
	}
	if files := end.Result.Metadata.TrackFiles; len(files) > 0 {
		s.sources.filesChanged(files)
	}
	usage, ok := event.(transcript.UsageChanged)
	if !ok || usage.Size != 0 {
		return
	}
	if id := s.choices.get().model; s.choices.models.learn(id).complete() {
		s.conversation.notices.once("window "+id, transcript.Notice{
			Severity: transcript.Info, Title: "Context window unknown",
			Text: "The context window of this model is not known, so its use is not shown. Set model.window in the configuration.",
		})
	}
}

// callEnd returns the end of a call, of whatever agent; the zero value when the event is another one.
func callEnd(e transcript.Event) transcript.ToolFinished {
	for {
		child, isChild := e.(transcript.ChildEvent)
		if !isChild {
			break
		}
		e = child.Event
	}
	end, _ := e.(transcript.ToolFinished)
	return end
}
