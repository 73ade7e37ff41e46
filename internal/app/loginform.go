package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"acp-agent/config"
	"acp-agent/kinds"
)

const (
	// maxLoginTries is how often a user may correct an answer.
	maxLoginTries = 3
	// maxModelsShown bounds the list of models that is shown.
	maxModelsShown = 20
)

// loginForm is what is known of a login so far.
type loginForm struct {
	loginFlags
	*prompter // nil without a terminal
	provider  loginProvider
	baseURL   string
	key       string
	notes     []string
}

// newLoginForm takes the flags, and refuses what cannot succeed before anything is asked.
func newLoginForm(cmd *cobra.Command, flags loginFlags) (*loginForm, error) {
	form := &loginForm{loginFlags: flags}
	if p, ok := terminalOf(cmd.InOrStdin(), cmd.ErrOrStderr()); ok {
		form.prompter = &p
	}
	usage := func(format string, args ...any) error { return &exitError{exitUsage, fmt.Errorf(format, args...)} }
	if flags.baseURL != "" {
		address, problem := config.BaseURL(strings.TrimSpace(flags.baseURL))
		if problem != "" {
			return nil, usage("--base-url %s", problem)
		}
		form.baseURL, form.provider = address, providerAt(address)
	}
	if flags.provider != "" {
		found, err := findProvider(flags.provider)
		if err != nil {
			return nil, usage("--provider: %w", err)
		}
		if form.baseURL != "" && found.baseURL != "" && !found.local && found.baseURL != form.baseURL {
			return nil, usage("--provider %s has the address %s; for --base-url %s the provider is %s", found.id, found.baseURL, form.baseURL, otherProvider)
		}
		form.provider = found
		form.baseURL = cmp.Or(form.baseURL, found.baseURL)
	}
	switch {
	case flags.noKey && form.provider.needsKey:
		return nil, usage("%s needs a key", form.provider.name)
	case flags.keyStdin:
		key, err := readTyped(cmd.InOrStdin(), false)
		form.key = strings.TrimSpace(key)
		if err != nil || form.key == "" {
			return nil, errors.New("--key-stdin: stdin holds no key; nothing was stored")
		}
		form.prompter = nil // the rest of stdin is no answer to a question
		if err := checkKey(form.key); err != nil {
			return nil, fmt.Errorf("--key-stdin: %w", err)
		}
	case form.prompter == nil && !flags.noKey:
		return nil, usage("stdin is not a terminal; give the key with --key-stdin and the server with --provider or --base-url")
	}
	if form.prompter == nil && form.baseURL == "" {
		return nil, usage("give the server with --provider or --base-url")
	}
	return form, nil
}

// complete asks for what is missing and tests it. In a terminal a wrong answer can be
// corrected.
func (f *loginForm) complete(ctx context.Context) error {
	var found checked
	for try := 1; ; try++ {
		if err := f.ask(ctx); err != nil {
			return err
		}
		if f.unchecked {
			break
		}
		var err error
		if found, err = checkLogin(ctx, f.baseURL, f.provider.check, f.key); err == nil {
			break
		}
		if ctx.Err() != nil {
			return interrupted(nil)
		}
		if f.prompter == nil || try == maxLoginTries || !f.retract(err) {
			return fmt.Errorf("%w; nothing was stored", err)
		}
		fmt.Fprintf(f.out, "%s.\n\n", kinds.Visible(err.Error()))
	}
	if found.note != "" {
		f.notes = append(f.notes, found.note)
	}
	if f.key != "" && exposesKey(f.baseURL) {
		f.notes = append(f.notes, "The key goes to this server unencrypted (http).")
	}
	return f.chooseModel(ctx, found.models)
}

// retract takes back the answer that an error is about; false when there is none that was
// typed.
func (f *loginForm) retract(err error) bool {
	if errors.Is(err, errKeyRefused) {
		f.key, f.noKey = "", false
		return true
	}
	typed := f.provider.baseURL == "" && f.loginFlags.baseURL == ""
	if typed {
		f.baseURL, f.key = "", ""
	}
	return typed
}

// ask asks in the terminal for server and key, as far as they are not known.
func (f *loginForm) ask(ctx context.Context) error {
	if f.prompter == nil {
		return nil
	}
	if f.provider.id == "" {
		if err := f.askProvider(ctx); err != nil {
			return err
		}
	}
	for f.baseURL == "" {
		text, err := f.line(ctx, "Address, such as http://localhost:11434/v1", "")
		if err != nil {
			return err
		}
		address, problem := config.BaseURL(text)
		if problem != "" {
			fmt.Fprintf(f.out, "The address %s.\n", problem)
			continue
		}
		f.baseURL = address
	}
	if f.key != "" || f.noKey {
		return nil
	}
	return f.askKey(ctx)
}

func (f *loginForm) askProvider(ctx context.Context) error {
	fmt.Fprintln(f.out, "Which server runs the model?")
	for i, p := range loginProviders() {
		fmt.Fprintf(f.out, "  %d  %s\n", i+1, p.name)
	}
	for {
		text, err := f.line(ctx, "Number or name", "1")
		if err != nil {
			return err
		}
		if f.provider, err = findProvider(text); err == nil {
			f.baseURL = f.provider.baseURL
			return nil
		}
		fmt.Fprintf(f.out, "%s.\n", kinds.Visible(err.Error()))
	}
}

func (f *loginForm) askKey(ctx context.Context) error {
	question := "API key (not shown; empty if the server needs none)"
	if f.provider.needsKey {
		question = "API key from " + f.provider.keys + " (not shown)"
	}
	if exposesKey(f.baseURL) {
		fmt.Fprintln(f.out, "This address begins with http: others in the network can read the key on its way.")
	}
	for {
		key, err := f.secret(ctx, question)
		if err != nil {
			return err
		}
		switch err := checkKey(key); {
		case err != nil:
			fmt.Fprintf(f.out, "%v\n", err)
		case key == "" && f.provider.needsKey:
			fmt.Fprintf(f.out, "%s needs a key.\n", f.provider.name)
		default:
			f.key = key
			return nil
		}
	}
}

// chooseModel decides the model of new sessions.
func (f *loginForm) chooseModel(ctx context.Context, models []string) error {
	if f.model == "" && f.prompter != nil {
		fallback := f.provider.model
		if fallback == "" && len(models) > 0 {
			fallback = models[0]
		}
		if len(models) > 0 && f.provider.model == "" {
			shown := models[:min(len(models), maxModelsShown)]
			fmt.Fprintf(f.out, "Models of this server: %s", kinds.Visible(strings.Join(shown, ", ")))
			if more := len(models) - len(shown); more > 0 {
				fmt.Fprintf(f.out, " and %d more", more)
			}
			fmt.Fprintln(f.out)
		}
		var err error
		if f.model, err = f.line(ctx, "Model of new sessions", kinds.Visible(fallback)); err != nil {
			return err
		}
	}
	f.model = cmp.Or(f.model, f.provider.model)
	if len(models) > 0 && f.model != "" && !slices.Contains(models, f.model) {
		f.notes = append(f.notes, fmt.Sprintf("The server does not list a model %q.", f.model))
	}
	return nil
}
