package source

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestErrorText(t *testing.T) {
	cause := fmt.Errorf("status %d: \x1b[2J", 503)
	for _, tt := range []struct {
		err  Error
		want string
	}{
		{Error{Host: "h:80", Fault: FaultRefused, Status: 503, Err: cause}, `h:80: status 503: \x1b[2J`},
		{Error{Host: "h:80", Fault: FaultRefused, Status: 404}, "h:80: status 404"},
		{Error{Fault: FaultNetwork}, "network"},
		{Error{Host: "\u202eh", Fault: FaultTLS}, `\u202eh: tls`},
		{Error{}, "no fault"},
		{Error{Fault: 99}, "fault 99"},
	} {
		if got := tt.err.Error(); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.err, got, tt.want)
		}
	}
}

func TestErrorUnwraps(t *testing.T) {
	var err error = fmt.Errorf("x: %w", &Error{Fault: FaultNetwork, Err: io.ErrUnexpectedEOF})
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Fault != FaultNetwork || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v", err)
	}
}

func TestFaultNames(t *testing.T) {
	seen := map[string]bool{}
	for f := FaultNetwork; f <= FaultLimit; f++ {
		if name := f.String(); seen[name] || name == "" {
			t.Errorf("fault %d is called %q, as another is", f, name)
		} else {
			seen[name] = true
		}
	}
}

// TestErrorIsEscaped_Rule61 checks that an Error escapes the text of servers (rule 61).
func TestErrorIsEscaped_Rule61(t *testing.T) {
	e := &Error{URL: "http://a.example/", Host: "a.example\x1b[2J", Fault: FaultRefused, Err: errors.New("says \x1b]0;x\a\u202e")}
	if text := e.Error(); strings.ContainsAny(text, "\x1b\a\u202e") {
		t.Errorf("%q", text)
	}
}
