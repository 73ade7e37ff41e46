package v1

import (
	"errors"

	"acp-agent/acp/rpc"
	"acp-agent/model"
	"acp-agent/session"
	"acp-agent/store"
	"acp-agent/tools"
)

// wireError gives the errors of the core their JSON-RPC codes.
func wireError(err error) error {
	var auth *session.AuthError
	var value *session.BadValueError
	var busy *store.BusyError
	var already *rpc.Error
	switch {
	case err == nil || errors.As(err, &already):
		return err
	case errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrNoMessage):
		return rpc.Errorf(rpc.CodeResourceNotFound, "%s", err.Error())
	case errors.As(err, &busy):
		return rpc.Errorf(rpc.CodeInvalidRequest, "%s", busy.Error())
	case errors.Is(err, store.ErrCursor):
		return rpc.Errorf(rpc.CodeInvalidParams, "session/list: %s", err.Error())
	case errors.As(err, &auth):
		return rpc.Errorf(rpc.CodeAuthRequired, "%s", auth.Message)
	case errors.As(err, &value):
		return rpc.Errorf(rpc.CodeInvalidParams, "%s", value.Error())
	}
	return modelError(err)
}

// modelError is the answer to a prompt whose turn failed. Version 1 has no stop reason for
// this, so it is an error, with data that a client may show.
func modelError(err error) error {
	var failure *model.Error
	if errors.As(err, &failure) {
		code := rpc.CodeInternalError
		if failure.Kind == model.Auth {
			code = rpc.CodeAuthRequired
		}
		wire := rpc.Errorf(code, "%s", failureText(err, failure))
		wire.Data = failureData(failure)
		return wire
	}
	var bad *tools.Error
	if errors.As(err, &bad) && bad.Kind == tools.BadInput {
		return rpc.Errorf(rpc.CodeInvalidParams, "%s", bad.Error())
	}
	return rpc.Errorf(rpc.CodeInternalError, "%s", err.Error())
}

// failureText is the text of a failure, unless the prompt did not run because an earlier one failed.
func failureText(err error, failure *model.Error) string {
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
