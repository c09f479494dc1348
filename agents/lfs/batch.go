package lfs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"braid/address"
	"braid/source"
	"braid/source/httpsource"
)

const (
	mediaType  = "application/vnd.git-lfs+json"
	mostAnswer = 4 << 20
	mostTime   = time.Minute // for one request
	mostTries  = 4
	mostWait   = 30 * time.Second
)

// A server is the LFS server of a remote.
type server struct {
	agent  *Agent
	http   *httpsource.Client
	url    *url.URL // without name and password
	at     *url.URL // with the name and password of the settings
	fields http.Header
	known  credential
	login  *login        // for a remote over SSH; may be nil
	near   address.Scope // scopes of URLs that the server may name, besides address.Public; zero if not known yet
}

// A serverError reports that a server did not return the URL of an object.
type serverError struct {
	Host   string
	Status int // HTTP status, or the code of the object's error
	Why    string
}

func (e *serverError) Error() string {
	return fmt.Sprintf("%s: %d %s", e.Host, e.Status, e.Why)
}

type object struct {
	OID           string             `json:"oid"`
	Size          int64              `json:"size"`
	Authenticated bool               `json:"authenticated,omitempty"`
	Actions       map[string]*action `json:"actions,omitempty"`
	Error         *replyError        `json:"error,omitempty"`
}

type batch struct {
	Operation string   `json:"operation"`
	Transfers []string `json:"transfers"`
	Objects   []object `json:"objects"`
	Hash      string   `json:"hash_algo"`
}

// ask asks the server for the URL of an object (docs/api/batch.md of git-lfs).
func (s *server) ask(ctx context.Context, oid string, size int64) (*action, error) {
	question, err := json.Marshal(batch{Operation: "download", Transfers: []string{"basic"},
		Objects: []object{{OID: oid, Size: size}}, Hash: "sha256"})
	if err != nil {
		return nil, err
	}
	begins := time.Now()
	reply, err := s.post(ctx, question)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Hash    string   `json:"hash_algo"`
		Objects []object `json:"objects"`
	}
	if err := json.Unmarshal(reply.Body, &answer); err != nil {
		return nil, s.wrong("the answer is not JSON: %v", err)
	}
	if answer.Hash != "" && answer.Hash != "sha256" {
		return nil, s.wrong("its hash algorithm is %.40q", answer.Hash)
	}
	for _, o := range answer.Objects {
		if o.OID != oid {
			continue
		}
		a := o.Actions["download"]
		switch {
		case o.Error != nil:
			return nil, &serverError{s.url.Host, o.Error.Code, o.Error.Message}
		case a == nil || a.Href == "":
			return nil, s.wrong("the object does not exist")
		}
		s.near = address.Public | reply.From
		a.authenticated, a.begins = o.Authenticated, begins
		return a, nil
	}
	return nil, s.wrong("the answer is about other objects")
}

func (s *server) wrong(format string, args ...any) error {
	return &serverError{s.url.Host, http.StatusOK, fmt.Sprintf(format, args...)}
}

// post sends a request, and repeats it after temporary failures. If the server requires a name and password, git
// provides them.
func (s *server) post(ctx context.Context, question []byte) (reply httpsource.Reply, err error) {
	for try := 1; ; try++ {
		to, fields, err := s.to(ctx)
		if err != nil {
			return reply, err
		}
		reply, err = s.postOnce(ctx, to, fields, question)
		later, again := pause(reply, err, try)
		switch {
		case ctx.Err() != nil:
			return reply, context.Cause(ctx)
		case again && try < mostTries:
			if err := wait(ctx, later); err != nil {
				return reply, err
			}
			continue
		case err != nil:
			return reply, err
		case reply.Status == http.StatusUnauthorized && reply.Host != source.HostPort(to): // git has no credentials for it
			return reply, &serverError{reply.Host, reply.Status,
				"it needs a name and password, and git gives none for a server that " + to.Host + " redirects to"}
		case reply.Status == http.StatusUnauthorized && s.login.holds():
			s.login.action = nil // so that to requests a new action
			continue
		case reply.Status == http.StatusUnauthorized && (s.known.user != nil || s.login != nil):
			s.agent.tell(ctx, &s.known, "reject")
			s.known = credential{}
			return reply, &serverError{s.url.Host, reply.Status, "it refuses the credentials that git has"}
		case reply.Status == http.StatusUnauthorized:
			if s.known, err = s.agent.fill(ctx, s.at); err != nil {
				return reply, err
			}
			continue
		case reply.Status != http.StatusOK:
			return reply, &serverError{s.url.Host, reply.Status, explained(reply)}
		}
		s.agent.tell(ctx, &s.known, "approve")
		return reply, nil
	}
}

func (s *server) postOnce(ctx context.Context, to *url.URL, fields http.Header, question []byte) (httpsource.Reply, error) {
	ctx, cancel := context.WithTimeout(ctx, mostTime)
	defer cancel()
	header := fields.Clone()
	header.Set("Accept", mediaType)
	header.Set("Content-Type", mediaType+"; charset=utf-8")
	return s.http.Post(ctx, to, httpsource.Options{Header: header, User: s.known.user}, question, mostAnswer)
}

// pause returns how long to wait before another try, and whether the request is worth another try.
func pause(r httpsource.Reply, err error, try int) (time.Duration, bool) {
	wait := time.Second << (try - 1)
	if err != nil {
		e, ok := errors.AsType[*source.Error](err)
		return wait, ok && e.Retry || errors.Is(err, context.DeadlineExceeded)
	}
	if n, err := strconv.ParseUint(r.Header.Get("Retry-After"), 10, 16); err == nil {
		wait = min(time.Duration(n)*time.Second, mostWait)
	}
	return wait, r.Status == http.StatusTooManyRequests || r.Status >= 500 && r.Status != http.StatusNotImplemented &&
		r.Status != http.StatusInsufficientStorage
}

// explained returns the server's message in a response.
func explained(r httpsource.Reply) string {
	var said struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(r.Body, &said); strings.TrimSpace(said.Message) != "" {
		return said.Message
	}
	return http.StatusText(r.Status)
}
