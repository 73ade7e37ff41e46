package openai

import (
	"errors"
	"fmt"
	"strings"

	"acp-agent/model"
	"acp-agent/model/wire"
)

// imagesRefused notes that a server refused a request with images because of them, and
// says so to the user; ok is false for every other error. Where the request had no images
// there is nothing to leave out.
func (p *Provider) imagesRefused(req *model.Request, err error) (warning model.Chunk, ok bool) {
	var e *model.Error
	var d *wire.Detail
	if !errors.As(err, &e) || !errors.As(err, &d) || e.Interrupted || !d.RefusesImages() ||
		!wire.HasImages(req.Messages) || p.info(req.Model).Images == model.No {
		return model.Chunk{}, false
	}
	return p.takesNoImages(req.Model, e), true
}

// takesNoImages notes that a model takes no images, and makes what is said to the user.
func (p *Provider) takesNoImages(id string, refusal *model.Error) model.Chunk {
	p.mu.Lock()
	p.blind[id] = true
	p.mu.Unlock()
	p.opts.Logger.Debug("model server refused images", "model", id)
	return model.Chunk{Kind: model.Warning, Title: "Image not sent", Text: fmt.Sprintf(
		"%s takes no images, so those of this conversation are not sent to it. Choose another model to have them seen. Its server said: %s", id, refusal.Message)}
}

// mayRefuseImages reports whether a request may have been refused for its images in words
// that are not known: nothing is known of the model, and the server calls the request
// itself wrong. An image stays in the conversation, so that every later request would fail.
func (p *Provider) mayRefuseImages(req *model.Request, err error) bool {
	var e *model.Error
	var d *wire.Detail
	return errors.As(err, &e) && errors.As(err, &d) && e.Kind == model.Invalid && !e.Interrupted &&
		!d.WantsResponses() && !d.AboutOneImage() && wire.HasImages(req.Messages) && p.info(req.Model).Images == model.Unknown
}

// WithoutImages is a request that is made again without its images, to learn whether they
// are why it was refused: they are if it is answered now. A nil one changes nothing.
type WithoutImages struct {
	provider *Provider
	model    string
	refusal  error // of the request with images
	answered bool
}

// TryWithoutImages returns what a refused request is made again with, nil when there is no
// reason to.
func (p *Provider) TryWithoutImages(req *model.Request, err error) *WithoutImages {
	if !p.mayRefuseImages(req, err) {
		return nil
	}
	return &WithoutImages{provider: p, model: req.Model, refusal: err}
}

// Sending tells the user of the images before the first piece of the answer.
func (w *WithoutImages) Sending(yield func(model.Chunk) bool) func(model.Chunk) bool {
	if w == nil {
		return yield
	}
	return func(c model.Chunk) bool {
		var e *model.Error
		if !w.answered && errors.As(w.refusal, &e) {
			w.answered = true
			if !yield(w.provider.takesNoImages(w.model, e)) {
				return false
			}
		}
		return yield(c)
	}
}

// Outcome is the error of the step: the first refusal where the images were not why.
func (w *WithoutImages) Outcome(err error) error {
	if w == nil || err == nil || w.answered || !errors.As(err, new(*model.Error)) {
		return err
	}
	return w.refusal
}

// visionOf is what a server's yes or no about images means; nil is neither.
func visionOf(said *bool) model.Answer {
	switch {
	case said == nil:
		return model.Unknown
	case *said:
		return model.Yes
	}
	return model.No
}

// listsImages is what a list of kinds of input says about images; no list says nothing.
func listsImages(kinds []string, image string) model.Answer {
	if kinds == nil {
		return model.Unknown
	}
	for _, kind := range kinds {
		if strings.EqualFold(kind, image) {
			return model.Yes
		}
	}
	return model.No
}
