package lfs

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"braid/address"
	"braid/verify"
)

// mostLine bounds a line of git-lfs. The longest has the header fields of an action.
const mostLine = 1 << 20

var errProtocol = errors.New("git-lfs says what is not in its protocol")

// A message is what git-lfs says.
type message struct {
	Event     string  `json:"event"`
	Operation string  `json:"operation"`
	Remote    string  `json:"remote"`
	OID       string  `json:"oid"`
	Size      int64   `json:"size"`
	Action    *action `json:"action"`
}

// An action says where an object is (docs/api/batch.md of git-lfs).
type action struct {
	Href      string            `json:"href"`
	Header    map[string]string `json:"header"`
	ExpiresIn int64             `json:"expires_in"` // seconds
	ExpiresAt string            `json:"expires_at"`

	authenticated bool          // Header is all that the server at Href wants to see
	begins        time.Time     // that of ExpiresIn
	named         address.Scope // to where Href may lead; zero if git-lfs named it
}

// expired reports whether the server said that the action does not hold any more. Expires_in counts more than
// expires_at, as it needs no clock that is right.
func (a *action) expired(now time.Time) bool {
	if a.ExpiresIn > 0 {
		return !a.begins.IsZero() && now.After(a.begins.Add(time.Duration(min(a.ExpiresIn, 1<<31))*time.Second))
	}
	at, err := time.Parse(time.RFC3339, a.ExpiresAt)
	return err == nil && at.Year() > 1 && now.After(at)
}

// fields is Header as it is sent.
func (a *action) fields() http.Header {
	h := http.Header{}
	for name, value := range a.Header {
		h.Set(name, value)
	}
	return h
}

// A reply is what git-lfs hears, but for progress.
type reply struct {
	Event string      `json:"event,omitempty"`
	OID   string      `json:"oid,omitempty"`
	Path  string      `json:"path,omitempty"`
	Error *replyError `json:"error,omitempty"`
}

type replyError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

type progress struct {
	Event string `json:"event"`
	OID   string `json:"oid"`
	SoFar int64  `json:"bytesSoFar"`
	Since int64  `json:"bytesSinceLast"`
}

// parseMessage reads a line.
func parseMessage(line []byte) (m message, err error) {
	if err := json.Unmarshal(line, &m); err != nil {
		return m, fmt.Errorf("%w: %v", errProtocol, err)
	}
	return m, nil
}

// check refuses what names no object: the name becomes that of a file.
func (m *message) check() error {
	d, err := verify.ParseHex(verify.SHA256, m.OID)
	switch {
	case m.Event != "download" && m.Event != "upload":
		return fmt.Errorf("%w: the event %.40q", errProtocol, m.Event)
	case err != nil || d.Hex() != m.OID:
		return fmt.Errorf("%w: an object is named by 64 digits of its SHA-256, and this one %.80q", errProtocol, m.OID)
	case m.Size < 0:
		return fmt.Errorf("%w: a size of %d", errProtocol, m.Size)
	}
	return nil
}

// A lines reads what git-lfs says.
type lines struct {
	messages chan message
	err      error // why there are no more; for whoever saw messages closed
}

// newLines begins to read. Gone is called at the end.
func newLines(ctx context.Context, r io.Reader, gone func()) *lines {
	l := &lines{messages: make(chan message)}
	go func() {
		defer gone()
		defer close(l.messages)
		in := bufio.NewScanner(r)
		in.Buffer(nil, mostLine)
		for in.Scan() {
			m, err := parseMessage(in.Bytes())
			if err != nil {
				l.err = err
				return
			}
			select {
			case l.messages <- m:
			case <-ctx.Done():
				return
			}
		}
		if l.err = in.Err(); errors.Is(l.err, bufio.ErrTooLong) {
			l.err = fmt.Errorf("%w: a line of more than %d bytes", errProtocol, mostLine)
		}
	}()
	return l
}

// next is the next message; io.EOF if there are no more.
func (l *lines) next(ctx context.Context) (message, error) {
	select {
	case m, more := <-l.messages:
		if !more && l.err != nil {
			return m, l.err
		}
		if !more {
			return m, io.EOF
		}
		return m, nil
	case <-ctx.Done():
		return message{}, context.Cause(ctx)
	}
}

// end is the error of a run that ends with err: none if git-lfs has said all.
func (l *lines) end(err error) error {
	if errors.Is(err, errEnded) { // messages is closed
		if _, more := <-l.messages; !more {
			err = l.err
		}
	}
	if err == io.EOF {
		return nil
	}
	return err
}
