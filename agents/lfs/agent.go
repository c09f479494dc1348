// Package lfs is a custom transfer agent of git-lfs: a process that git-lfs starts and asks for one object after the
// other, with messages of JSON lines (docs/custom-transfers.md of git-lfs). The name of an object is its SHA-256, so
// the object may come from any mirror.
//
//	agent := lfs.Agent{
//		In: os.Stdin, Out: os.Stdout,
//		Client: func(lfs.Settings) (*download.Client, error) { return &client, nil },
//	}
//	err := agent.Run(ctx)
//
// As a standalone agent (lfs.standalonetransferagent) it asks the LFS server of the remote where an object is. If the
// server chose the agent, git-lfs sends the URL of the object, and the agent asks the server only when that URL has
// expired. An interrupted download continues in the next run.
//
// Package download fetches the objects. Settings are read by git and git-lfs, which the agent runs. The agent does not
// upload: it hands uploads back to git-lfs.
package lfs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"

	"braid/download"
)

// An Agent runs the protocol once.
type Agent struct {
	// In receives the messages of git-lfs, and Out gets the answers. A goroutine reads In until its end.
	In  io.Reader
	Out io.Writer
	// Client returns a client that downloads, configured with git's settings for a server. It is called for the LFS
	// server, and for each object server with other settings.
	Client func(Settings) (*download.Client, error)
	// Prepare adds the user's options for the URL of a request to the request. It may be nil.
	Prepare func(*download.Request) error
	// Mirrors are folders with objects that have the names of .git/lfs/objects: aa/bb/aabb...
	Mirrors []*url.URL
	// Failure returns the code and the text of an error for git-lfs. If nil, the code is 1 and the text is the text of
	// the error.
	Failure func(error) (code int, text string)
	// Git runs git and returns its output. If nil, the program git is run.
	Git func(ctx context.Context, c Command) (out string, err error)
}

// Settings are git's settings for the LFS server of a remote or an object server: the URL of the server, and the
// http.* settings of git-config(1) that apply to that URL.
type Settings struct {
	Endpoint  *url.URL
	Proxy     string
	CAInfo    string // file
	Cert, Key string // files
	Insecure  bool   // http.sslVerify is false
}

// errEnded is the cause of the cancellation when git-lfs has closed its end of the pipe.
var errEnded = errors.New("git-lfs has exited")

// Run answers git-lfs until git-lfs sends "terminate" or closes its end of the pipe. Partial files stay for the next
// run. An error means that a message is not valid. The error of an object is sent to git-lfs.
func (a *Agent) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	in := newLines(ctx, a.In, func() { cancel(errEnded) })
	first, err := in.next(ctx)
	if err != nil || first.Event == "terminate" {
		return in.end(err)
	}
	if first.Event != "init" {
		return fmt.Errorf("%w: %.40q before init", errProtocol, first.Event)
	}
	begun := a.begin(ctx, first)
	defer func() {
		cancel(nil)
		begun()
	}()
	if err := a.say(reply{}); err != nil {
		return err
	}
	for {
		m, err := in.next(ctx)
		if err != nil || m.Event == "terminate" {
			return in.end(err)
		}
		if err := a.answer(ctx, begun, m); err != nil {
			return in.end(err)
		}
	}
}

// Refuse answers the first message of git-lfs with an error, which git-lfs shows to the user, unlike the agent's
// standard error. It does not answer if the first message is not from git-lfs.
func Refuse(in io.Reader, out io.Writer, code int, text string) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	first, err := newLines(ctx, in, func() {}).next(ctx)
	if err != nil || first.Event != "init" {
		return err
	}
	return (&Agent{Out: out}).say(reply{Error: &replyError{code, text}})
}

// begin opens the session in a goroutine. The answer to init must not wait for git, because git-lfs starts the next
// agent only after that answer. begun waits for the session and returns it.
func (a *Agent) begin(ctx context.Context, first message) (begun func() (*session, error)) {
	var s *session
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		s, err = a.open(ctx, first)
	}()
	return func() (*session, error) {
		<-done
		return s, err
	}
}

// answer carries out a message and sends the result.
func (a *Agent) answer(ctx context.Context, begun func() (*session, error), m message) (err error) {
	r := reply{Event: "complete", OID: m.OID}
	if err = m.check(); err == nil {
		r.Path, err = carryOut(ctx, begun, m)
	}
	switch {
	case errors.Is(err, errProtocol) && m.OID == "":
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		r.Error = a.failure(err)
	}
	return a.say(r)
}

func carryOut(ctx context.Context, begun func() (*session, error), m message) (path string, err error) {
	s, err := begun()
	switch {
	case err != nil:
		return "", err
	case m.Event == "upload":
		return "", s.upload(ctx, m)
	}
	return s.download(ctx, m)
}

func (a *Agent) failure(err error) *replyError {
	if a.Failure == nil {
		return &replyError{1, err.Error()}
	}
	code, text := a.Failure(err)
	return &replyError{cmp.Or(code, 1), text}
}

func (a *Agent) say(r any) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = a.Out.Write(append(line, '\n'))
	return err
}
