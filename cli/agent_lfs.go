package cli

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"

	"braid/agents/lfs"
	"braid/download"
	"braid/internal/job"
	"braid/internal/problem"
	"braid/internal/render"
	"braid/source"
	"braid/source/httpsource"
)

// An lfsCommand holds the options of a run of braid lfs. Its Job has the options for all objects.
type lfsCommand struct {
	Job *job.Defaults
	streams
}

func newLFS(s streams) (action, targets) {
	l := &lfsCommand{newDefaults(s), s}
	return l.run, targetsOf(l)
}

func (l *lfsCommand) run(ctx context.Context, words []string) error {
	if len(words) > 0 {
		return problem.Misuse("lfs", "takes no operand", "git-lfs starts this command itself; see braid lfs --help")
	}
	l.Job.HTTP.Sites = job.NewSites(configurationOf(ctx))
	if text := configurationOf(ctx).Warning(); text != "" {
		fmt.Fprintln(l.err, source.Escape("braid lfs: "+text))
	}
	defer l.Job.HTTP.Sites.Limits.Follow()()
	mirrors, err := job.ParseURLs(l.Job.Mirror, job.ParseWebURL)
	if err != nil {
		return err
	}
	var clients []*download.Client
	defer func() {
		for _, c := range clients {
			c.HTTP.CloseIdle()
		}
	}()
	agent := lfs.Agent{
		In: l.in, Out: l.out, Mirrors: mirrors,
		Client: func(s lfs.Settings) (*download.Client, error) {
			c, err := l.open(s)
			clients = append(clients, c)
			return c, err
		},
		Prepare: func(r *download.Request) error { return l.Job.ForSite(r) },
		Failure: func(err error) (int, string) {
			f := *downloadProblem(ctx, err)
			if _, alone := err.(*download.Error); !alone { // downloadProblem would drop the text around a *download.Error
				f = problem.Problem{Kind: f.Kind, What: "error", Why: err.Error(), Err: f.Err}
			}
			f.Hint = "" // the hints name flags of other commands
			return exitCode(&f), render.ErrorLine(&f)
		},
	}
	return agent.Run(ctx)
}

// tellGitLFS reports f to git-lfs if args contain the command lfs and standard input is not a terminal.
func tellGitLFS(args []string, s streams, f *problem.Problem) {
	if f, ok := s.in.(*os.File); len(args) < 2 || args[1] != "lfs" || ok && term.IsTerminal(int(f.Fd())) {
		return
	}
	lfs.Refuse(s.in, s.out, exitCode(f), render.ErrorLine(f)) // if that fails, git-lfs has ended
}

// open creates a client for a server. The proxy and other settings of git apply where braid has no value.
func (l *lfsCommand) open(s lfs.Settings) (*download.Client, error) {
	proxies, trust := l.Job.HTTP.Proxies, l.Job.HTTP.Trust
	defer func() { l.Job.HTTP.Proxies, l.Job.HTTP.Trust = proxies, trust }()
	if l.Job.HTTP.Proxies.Proxy == "" && s.Proxy != "" {
		if l.Job.HTTP.Proxies.Proxy = s.Proxy; !strings.Contains(s.Proxy, "://") { // without a scheme, as git-config(1) allows
			l.Job.HTTP.Proxies.Proxy = "http://" + s.Proxy
		}
	}
	if s.CAInfo != "" {
		if err := l.Job.HTTP.Trust.CACert.Set(s.CAInfo); err != nil {
			return nil, err
		}
	}
	if s.Insecure {
		if err := l.Job.HTTP.Trust.Insecure.Set(s.Endpoint.Host); err != nil {
			return nil, err
		}
	}
	client, err := l.Job.Client()
	client.State = nil // git-lfs runs several of these processes at the same time
	if err == nil && l.Job.HTTP.Trust.ClientCert == "" && s.Cert != "" {
		err = certify(client.HTTP, s)
	}
	return client, err
}

// certify makes c use the client certificate in git's settings for the LFS server, and for no other server: the LFS
// server chooses the servers of objects.
func certify(c *httpsource.Client, s lfs.Settings) error {
	pair, err := job.ReadKeyPair("http.sslCert", s.Cert, "http.sslKey", cmp.Or(s.Key, s.Cert))
	if err != nil {
		return err
	}
	at := source.HostPort(s.Endpoint)
	config := cmp.Or(c.TLSFor[at], c.TLSFor[s.Endpoint.Hostname()], c.TLS, &tls.Config{}).Clone()
	config.Certificates = []tls.Certificate{pair}
	if c.TLSFor == nil {
		c.TLSFor = map[string]*tls.Config{}
	}
	c.TLSFor[at] = config
	return nil
}
