package openpgp

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"braid/verify"
)

func fail(c verify.SignatureCode, format string, args ...any) *verify.SignatureError {
	return &verify.SignatureError{Code: c, Reason: fmt.Sprintf(format, args...)}
}

// about sets the subject of a *verify.SignatureError to something other than a signature. It returns err.
func about(subject string, err error) error {
	if e, ok := errors.AsType[*verify.SignatureError](err); ok {
		e.Of = subject
	}
	return err
}

// quote quotes the first 200 bytes of untrusted text for a message.
func quote(s string) string {
	const most = 200
	return strconv.Quote(strings.ToValidUTF8(s[:min(len(s), most)], "\uFFFD"))
}
