package worlds

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"

	"braid/download"
	"braid/download/state"
	"braid/internal/fsys"
	"braid/internal/lookup"
	"braid/internal/test/oracle"
	"braid/metalink"
	"braid/source/httpsource"
	"braid/verify"
)

// A process is what the program remembers from one command to the next, if both are in one process.
type process struct {
	http   *httpsource.Client
	client *download.Client
	slowly bool
	net    *network // of the command
}

// RoundTrip is that of http.RoundTripper.
func (p *process) RoundTrip(req *http.Request) (*http.Response, error) { return p.net.RoundTrip(req) }

// enter begins a command: in the process of the command before, as a daemon tries again, or in a new one.
func (r *run) enter(cmd Command, n *network) *process {
	if p := r.process; p != nil && cmd.Same && cmd.Slowly == p.slowly {
		p.net = n
		return p
	}
	p := &process{slowly: cmd.Slowly, net: n}
	p.http = &httpsource.Client{Transport: p}
	if cmd.Slowly {
		p.http.HostRate = func(*url.URL) float64 { return 0.05 }
	}
	p.client = &download.Client{
		HTTP: p.http, State: &state.Store{Dir: filepath.Join(r.state, "state")},
		JournalKey: filepath.Join(r.state, "key"), MinSplit: 16 << 10, Forges: forges(),
	}
	r.process = p
	return p
}

// A user is one command, as the command line makes its requests.
type user struct {
	*run
	cmd   Command
	c     *oracle.Command
	files fsys.FS
	to    *putting // with cmd.Store
	*process
}

func (u *user) do(ctx context.Context) {
	if err := os.MkdirAll(u.client.State.Dir, 0o700); err != nil {
		panic(err)
	}
	defer u.client.State.Save()
	switch u.cmd.Do {
	case "get":
		q := u.request()
		if err := u.trust(ctx, &q); err != nil {
			u.ended(err)
			return
		}
		u.get(ctx, q)
	case "resume":
		u.resume(ctx)
	case "verify", "repair":
		u.verify(ctx)
	}
}

func (u *user) request() download.Request {
	q := download.Request{
		URL: parse(u.w.url("a")), Dir: folder,
		Trust: download.Trust{
			Require: requirements[u.cmd.Require], Claims: claims(u.w.digest(u.cmd.Sha, ""), "--sha256", verify.User),
			LessProof: u.cmd.LessProof, Lookup: u.cmd.Lookup,
		},
		IfExists: download.IfExists{
			Overwrite: u.cmd.Overwrite,
			Rename:    u.cmd.Rename,
			Continue:  u.cmd.Continue,
			Refresh:   u.cmd.Refresh,
			IfNewer:   u.cmd.Newer,
		},
		NoMetalink: u.cmd.NoLinks,
	}
	if u.cmd.Feed != "" {
		over := verify.HTTP
		if q.URL.Scheme == "https" {
			over = verify.HTTPS
		}
		q.Published.Claims = claims(u.w.digest(u.cmd.Feed, ""), lookup.FieldOfFeed("feed"), over)
	}
	if m := u.cmd.Mirror; m != "" && u.cmd.Feed != "" {
		q.Published.Mirrors = []metalink.Mirror{{URL: parse(u.w.url(m))}}
	}
	if u.cmd.Refresh {
		q.Name = fileName
	}
	if u.cmd.Store {
		q.Dir, q.Store = "", u.to
	}
	if u.cmd.Turn {
		u.turn(&q)
	}
	if *story != "" {
		q.Observe = show
	}
	if u.cmd.Login {
		q.Access.User = url.UserPassword("user", password)
	}
	for _, m := range list(u.cmd.Mirrors) {
		q.Mirrors = append(q.Mirrors, parse(u.w.url(m)))
	}
	return q
}

// claims returns the claim of a digest in hex, "" of none.
func claims(hex, field string, over verify.Channel) []verify.Claim {
	if hex == "" {
		return nil
	}
	claim, err := verify.Hex(hex)
	if err != nil {
		panic(err)
	}
	claim.Field, claim.Channel = field, over
	return []verify.Claim{claim}
}

var requirements = map[string]download.Require{
	"": download.RequireNothing, "digest": download.RequireDigest, "signature": download.RequireSignature,
}

func parse(s string) *url.URL {
	u, err := url.Parse(s)
	if err != nil {
		panic(err)
	}
	return u
}

func (u *user) get(ctx context.Context, q download.Request) {
	var out bytes.Buffer
	if u.cmd.Pipe {
		q.Stream, q.Dir = io.Writer(&out), ""
	}
	result, err := u.client.Get(ctx, q)
	u.c.Output = out.Bytes()
	u.ended(err)
	if err != nil {
		return
	}
	u.c.Unchanged = result.AlreadyComplete || result.NotModified
	if u.cmd.Turn {
		u.record(result)
	}
	u.c.Continued, u.c.Compared = result.Continued, result.Compared > 0
	u.proof(result.Proof)
}

func (u *user) verify(ctx context.Context) {
	q := u.request()
	q.Name, q.IfExists.Overwrite, q.IfExists.IfNewer = fileName, false, false
	if q.Trust.Require == download.RequireNothing {
		q.Trust.Require = download.RequireDigest
	}
	v, err := u.client.Verify(ctx, q)
	if err != nil && u.cmd.Do == "repair" && v.Repairable() && ctx.Err() == nil {
		var result download.Result
		result, err = u.client.Repair(ctx, v, nil)
		u.proof(result.Proof)
	} else if err == nil {
		u.c.Unchanged = true
		u.proof(v.Proof)
	}
	u.ended(err)
}

// codes are the exit codes of kinds.
var codes = map[download.Kind]int{
	download.Other: 1, download.Usage: 2, download.Local: 3, download.Network: 4, download.TLS: 5, download.Auth: 6,
	download.Protocol: 7, download.Refused: 8, download.NoKey: 9, download.BadSignature: 10, download.Mismatch: 11,
	download.NoEvidence: 12, download.Budget: 13, download.Limit: 14, download.Interrupted: 130,
}

func (u *user) ended(err error) {
	if err == nil {
		return
	}
	if *story != "" {
		fmt.Printf("     %v\n", err)
	}
	u.c.Code = 1
	if e, ok := errors.AsType[*download.Error](err); ok {
		u.c.Code, u.c.Kept = codes[e.Kind], e.Kept
		if u.c.Code == 0 {
			if *story != "" {
				fmt.Printf("     %v\n", err)
			}
			u.c.Code = 1
		}
	}
}
