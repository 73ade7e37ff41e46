package openai

import (
	"errors"
	"strings"

	"acp-agent/model"
	"acp-agent/model/wire"
)

// ImagesRefused notes that a model takes no images when an error of a request with images says
// so, and returns the warning for the user; ok is false for every other error.
func (p *Provider) ImagesRefused(req *model.Request, err error) (warning model.Chunk, ok bool) {
	var e *model.Error
	var d *wire.Detail
	if !errors.As(err, &e) || !errors.As(err, &d) || e.Interrupted || !d.RefusesImages() ||
		!wire.HasImages(req.Messages) || p.info(req.Model).Images == model.No {
		return model.Chunk{}, false
	}
	return p.takesNoImages(req.Model, e), true
}

// takesNoImages notes that a model takes no images, and returns the warning for the user.
func (p *Provider) takesNoImages(id string, refusal *model.Error) model.Chunk {
	p.mu.Lock()
	p.blind[id] = true
	p.mu.Unlock()
	p.opts.Logger.Debug("model server refused images", "model", id)
	return wire.NoImagesWarning(id, refusal.Message)
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

// TryWithoutImages returns the WithoutImages with which a refused request is to be made again; nil
// when there is no reason to.
func (p *Provider) TryWithoutImages(req *model.Request, err error) *WithoutImages {
	if !p.mayRefuseImages(req, err) {
		return nil
	}
	return &WithoutImages{provider: p, model: req.Model, refusal: err}
}

// WrapYield returns a yield that warns the user about the images before the first piece of the
// answer.
func (w *WithoutImages) WrapYield(yield func(model.Chunk) bool) func(model.Chunk) bool {
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
