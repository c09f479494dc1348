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

	"braid/verify"
)

// mostLine limits the length of a line from git-lfs. The longest lines have the header fields of an action.
const mostLine = 1 << 20

var errProtocol = errors.New("not a message of the git-lfs protocol")

// A message is a message from git-lfs.
type message struct {
	Event     string  `json:"event"`
	Operation string  `json:"operation"`
	Remote    string  `json:"remote"`
	OID       string  `json:"oid"`
	Size      int64   `json:"size"`
	Action    *action `json:"action"`
}

// An action is the URL of an object with its header fields (docs/api/batch.md of git-lfs).
type action struct {
	Href      string            `json:"href"`
	Header    map[string]string `json:"header"`
	ExpiresIn int64             `json:"expires_in"` // in seconds
	ExpiresAt string            `json:"expires_at"`

	authenticated bool      // Header is sufficient for the server at Href
	begins        time.Time // start of ExpiresIn
}

// expired reports whether the action has expired. expires_in takes precedence over expires_at, because it does not
// depend on the clock.
func (a *action) expired(now time.Time) bool {
	if a.ExpiresIn > 0 {
		return !a.begins.IsZero() && now.After(a.begins.Add(time.Duration(min(a.ExpiresIn, 1<<31))*time.Second))
	}
	at, err := time.Parse(time.RFC3339, a.ExpiresAt)
	return err == nil && at.Year() > 1 && now.After(at)
}

// fields returns Header as an http.Header.
func (a *action) fields() http.Header {
	h := http.Header{}
	for name, value := range a.Header {
		h.Set(name, value)
	}
	return h
}

// A reply is an answer to git-lfs, other than progress.
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

// parseMessage parses a line.
func parseMessage(line []byte) (m message, err error) {
	if err := json.Unmarshal(line, &m); err != nil {
		return m, fmt.Errorf("%w: %v", errProtocol, err)
	}
	return m, nil
}

// check returns an error if the message does not name an object. The name of an object becomes the name of a file.
func (m *message) check() error {
	d, err := verify.ParseHex(verify.SHA256, m.OID)
	switch {
	case m.Event != "download" && m.Event != "upload":
		return fmt.Errorf("%w: the event %.40q", errProtocol, m.Event)
	case err != nil || d.Hex() != m.OID:
		return fmt.Errorf("%w: want an object ID of 64 digits, have %.80q", errProtocol, m.OID)
	case m.Size < 0:
		return fmt.Errorf("%w: the size is %d", errProtocol, m.Size)
	}
	return nil
}

// A lines reads the messages from git-lfs.
type lines struct {
	messages chan message
	err      error // why reading ended; set before messages is closed
}

// newLines starts a goroutine that reads messages until an error, the end of r, or ctx is done. It then calls gone.
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
			l.err = fmt.Errorf("%w: a line has more than %d bytes", errProtocol, mostLine)
		}
	}()
	return l
}

// next returns the next message, or io.EOF at the end.
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

// end returns the error of a run that ends with err. It returns nil if git-lfs closed the pipe between messages.
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
