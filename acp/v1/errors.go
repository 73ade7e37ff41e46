package v1

import (
	"errors"

	"acp-agent/acp/rpc"
	"acp-agent/model"
	"acp-agent/session"
	"acp-agent/tools"
)

// modelError is the answer to a prompt whose turn failed. Version 1 has no stop reason for
// this, so it is an error, with data that a client may show.
func modelError(err error) error {
	var failure *model.Error
	if errors.As(err, &failure) {
		code := rpc.CodeInternalError
		if failure.Kind == model.Auth {
			code = rpc.CodeAuthRequired
		}
		wire := rpc.Errorf(code, "%s", text(err, failure))
		wire.Data = failureData(failure)
		return wire
	}
	var bad *tools.Error
	if errors.As(err, &bad) && bad.Kind == tools.BadInput {
		return rpc.Errorf(rpc.CodeInvalidParams, "%s", bad.Error())
	}
	return rpc.Errorf(rpc.CodeInternalError, "%s", err.Error())
}

// text is the text of a failure, unless the prompt did not run because an earlier one failed.
func text(err error, failure *model.Error) string {
	var notRun *session.NotRunError
	if errors.As(err, &notRun) {
		return notRun.Error()
	}
	return failure.Error()
}

func failureData(failure *model.Error) map[string]any {
	names := map[model.ErrorKind]string{
		model.Transient: "transient", model.Overflow: "context_overflow", model.Auth: "auth", model.Invalid: "invalid_request",
	}
	data := map[string]any{"kind": names[failure.Kind]}
	if failure.Status != 0 {
		data["status"] = failure.Status
	}
	if failure.RetryAfter > 0 {
		data["retryAfterSeconds"] = failure.RetryAfter.Seconds()
	}
	return data
}
