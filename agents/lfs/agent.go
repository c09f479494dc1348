// Package lfs is a custom transfer agent of git-lfs: a process that git-lfs starts and asks for one object after the
// other, in lines of JSON (docs/custom-transfers.md of git-lfs). The name of an object is its SHA-256, so that it may
// come from any mirror.
//
//	agent := lfs.Agent{In: os.Stdin, Out: os.Stdout, Client: func(lfs.Settings) (*download.Client, error) { return &client, nil }}
//	err := agent.Run(ctx)
//
// As a standalone agent (lfs.standalonetransferagent) it asks the server of the remote itself where an object is. Where
// the server named the agent, git-lfs says where, and the server is asked only when that does not hold any more. What
// is begun goes on in the next run.
//
// It refuses to know how bytes come, which is the matter of package download, and how the settings of git are read, for
// which it asks git and git-lfs. It uploads nothing: that is handed back to git-lfs.
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

// An Agent is one run of the protocol.
type Agent struct {
	// In has what git-lfs says, and Out is what it hears. In is read until its end by a goroutine of its own.
	In  io.Reader
	Out io.Writer
	// Client makes what downloads, with what git's settings say of the server. It is called once.
	Client func(Settings) (*download.Client, error)
	// Prepare adds to a request what else the user has said of its URL. It may be nil.
	Prepare func(*download.Request) error
	// Mirrors are folders in which an object is named like in .git/lfs/objects: aa/bb/aabb...
	Mirrors []*url.URL
	// Failure is how an error is told to git-lfs. If nil, it is code 1 with the text of the error.
	Failure func(error) (code int, text string)
	// Git runs git with in to read, and returns what it prints. If nil, that is the program of that name.
	Git func(ctx context.Context, c Command) (out string, err error)
}

// Settings are what git says of the LFS server of a remote: its URL, and http.* as git-config(1) has them for it.
type Settings struct {
	Endpoint  *url.URL
	Proxy     string
	CAInfo    string // file
	Cert, Key string // files
	Insecure  bool   // http.sslVerify is false
}

// errEnded is why a download ends when git-lfs is gone.
var errEnded = errors.New("git-lfs has ended")

// Run answers until git-lfs says that it is done, or is gone. What is under way then stays for the next run. An error
// means that the conversation makes no sense; that of an object is told to git-lfs.
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

// Refuse answers git-lfs with why there is no agent, which git-lfs tells its user; what an agent writes to standard
// error it does not. If it is not git-lfs that says something first, there is no answer.
func Refuse(in io.Reader, out io.Writer, code int, text string) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	first, err := newLines(ctx, in, func() {}).next(ctx)
	if err != nil || first.Event != "init" {
		return err
	}
	return (&Agent{Out: out}).say(reply{Error: &replyError{code, text}})
}

// begin finds out what git says. Git-lfs starts an agent only when the one before has answered, so it is not to wait
// for that; begun returns what came of it.
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

// answer does what git-lfs asks for.
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

// say writes a line.
func (a *Agent) say(r any) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = a.Out.Write(append(line, '\n'))
	return err
}
