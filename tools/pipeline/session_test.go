package pipeline_test

import (
	"context"

	"acp-agent/permissions"
	"acp-agent/tools/pipeline"
)

// fakeSession answers with its functions, and as pipeline.NoSession where one is nil.
type fakeSession struct {
	pipeline.NoSession
	disabled         func(tool string) (string, bool)
	modePolicy       func() pipeline.ModePolicy
	listedOnly       func() bool
	store            func([]permissions.Rule) error
	whyNotUnattended func(context.Context) string
}

// sessionOf gives the options a fake session of their own, to be edited; it starts as the
// one that they had.
func sessionOf(o *pipeline.Options) *fakeSession {
	fake := fakeSession{}
	if old, ok := o.Session.(*fakeSession); ok {
		fake = *old
	}
	o.Session = &fake
	return &fake
}

// Disabled implements pipeline.Session.
func (f *fakeSession) Disabled(tool string) (string, bool) {
	if f.disabled == nil {
		return "", false
	}
	return f.disabled(tool)
}

// ModePolicy implements pipeline.Session.
func (f *fakeSession) ModePolicy() *pipeline.ModePolicy {
	if f.modePolicy == nil {
		return nil
	}
	policy := f.modePolicy()
	return &policy
}

// RequestPolicy implements pipeline.Session.
func (f *fakeSession) RequestPolicy() *pipeline.ModePolicy { return f.ModePolicy() }

// ListedOnly implements pipeline.Session.
func (f *fakeSession) ListedOnly() bool { return f.listedOnly != nil && f.listedOnly() }

// StoresRules implements pipeline.Session.
func (f *fakeSession) StoresRules() bool { return f.store != nil }

// StoreRules implements pipeline.Session.
func (f *fakeSession) StoreRules(rules []permissions.Rule) error { return f.store(rules) }

// WhyNotUnattended implements pipeline.Session.
func (f *fakeSession) WhyNotUnattended(ctx context.Context) string {
	if f.whyNotUnattended == nil {
		return ""
	}
	return f.whyNotUnattended(ctx)
}
