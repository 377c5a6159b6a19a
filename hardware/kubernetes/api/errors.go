package api

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// callError is an answer of the API server with an error status.
type callError struct {
	call Call
	code int
	text string
	wait time.Duration // the time before the next try, as the server asks (Retry-After)
}

func (e *callError) Error() string {
	what := strings.TrimSpace(e.call.Verb + " " + e.call.Resource + " " + e.call.Name)
	where := "in the cluster"
	if e.call.Namespace != "" {
		where = fmt.Sprintf("in the namespace %q", e.call.Namespace)
	}
	switch {
	case e.code == http.StatusForbidden && strings.Contains(e.text, "exceeded quota"):
		return fmt.Sprintf("%s %s: the quota is used up: %s", what, where, e.text)
	case NoPermission(e):
		return fmt.Sprintf("no permission to %s %s %s (%s)", e.call.Verb, e.call.Resource, where, e.text)
	case e.code == http.StatusUnauthorized:
		return "the API server does not accept the credentials of the context (401)"
	case e.code == http.StatusTooManyRequests:
		return "the API server limits how often it may be called (429)"
	}
	return fmt.Sprintf("%s %s: %s (%d)", what, where, cmp.Or(e.text, http.StatusText(e.code)), e.code)
}

// AwayError is returned when the API server has not answered for the whole patience.
type AwayError struct {
	server string
	waited time.Duration
	err    error
}

func (e *AwayError) Error() string {
	return fmt.Sprintf("the API server %s has not answered for %s: %v", e.server, e.waited.Round(time.Second), e.err)
}
func (e *AwayError) Unwrap() error { return e.err }

// Refused reports whether an error is an answer of the server with one of the status codes.
func Refused(err error, codes ...int) bool {
	e, ok := errors.AsType[*callError](err)
	return ok && slices.Contains(codes, e.code)
}

// Except returns an error, or nil if it is an answer of the server with one of the status codes.
func Except(err error, codes ...int) error {
	if Refused(err, codes...) {
		return nil
	}
	return err
}

// NoPermission reports whether the user lacks the permission for a call. A refusal by an admission controller has the
// same status code, but does not count.
func NoPermission(err error) bool {
	e, ok := errors.AsType[*callError](err)
	return ok && e.code == http.StatusForbidden && strings.Contains(e.text, " cannot ")
}

// passing reports whether a failed call may succeed when it is repeated.
func passing(err error) bool {
	if e, ok := errors.AsType[*callError](err); ok {
		return e.code == http.StatusTooManyRequests || e.code >= 500
	}
	_, cert := errors.AsType[*tls.CertificateVerificationError](err)
	_, own := errors.AsType[*accessError](err)
	return !cert && !own
}
