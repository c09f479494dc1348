package lfs

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"braid/address"
	"braid/download"
	"braid/internal/fsys"
	"braid/internal/partfile"
	"braid/source"
	"braid/source/httpsource"
	"braid/verify"
)

// A session is the state after the message init.
type session struct {
	agent  *Agent
	place  place
	known  Settings // git's settings for the LFS server
	client *download.Client
	// clients has the clients for object servers by scheme and host.
	clients map[string]*download.Client
	server  *server
	folder  string // folder of partial files
	// asked has the credentials for object servers by scheme and host. A credential without a user means that the
	// server accepts no credential.
	asked map[string]credential
}

// open creates the session for a remote.
func (a *Agent) open(ctx context.Context, m message) (s *session, err error) {
	s = &session{agent: a, asked: map[string]credential{}, clients: map[string]*download.Client{}}
	if s.place, err = a.find(ctx, m.Remote); err != nil || m.Operation == "upload" {
		return s, err
	}
	at := s.place.endpoint
	if at.Scheme != "http" && at.Scheme != "https" || at.Host == "" {
		own := `""`
		if at.Scheme == "file" {
			own = "lfs-standalone-file" // git-lfs's agent for file URLs; git-lfs uses it only if no other agent is set
		}
		return nil, fmt.Errorf("%s is not on a web server; "+
			"git config lfs.standalonetransferagent %s leaves this repository to git-lfs", at.Redacted(), own)
	}
	var fields []string
	if s.known, fields, err = a.settings(ctx, at); err != nil {
		return nil, err
	}
	if s.client, err = a.Client(s.known); err != nil {
		return nil, err
	}
	if s.client.HTTP == nil {
		own := *s.client
		own.HTTP, s.client = &httpsource.Client{}, &own
	}
	s.server = &server{http: s.client.HTTP, url: withoutUser(at), at: at, fields: http.Header{}, agent: a}
	s.server.near, _ = address.OfHost(at.Hostname())
	if _, ok := at.User.Password(); ok {
		s.server.known.user = at.User
	}
	for _, line := range fields {
		if name, value, ok := strings.Cut(line, ":"); ok {
			s.server.fields.Add(strings.TrimSpace(name), strings.TrimSpace(value))
		}
	}
	if s.place.ssh != "" {
		s.server.login, err = a.newLogin(ctx, s.place)
	}
	s.folder = filepath.Join(s.place.storage, "incomplete") // not tmp, which git-lfs clears after an hour
	return s, err
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// mostRenewals is the maximum number of new actions that are requested for one object.
const mostRenewals = 3

// download downloads an object and returns the path of the file, which git-lfs moves to its place.
func (s *session) download(ctx context.Context, m message) (path string, err error) {
	if path = s.left(m.OID); path != "" {
		return path, nil
	}
	from, near := m.Action, error(nil)
	for renewal := 0; ; renewal++ {
		if from == nil || from.Href == "" || from.expired(time.Now()) {
			if from, err = s.server.ask(ctx, m.OID, m.Size); err != nil {
				return "", cmp.Or(near, err)
			}
		}
		path, err = s.fetch(ctx, m, from)
		near = s.server.refused(err)
		if err == nil || ctx.Err() != nil || renewal == mostRenewals ||
			near == nil && !outdated(err) && !from.expired(time.Now()) {
			return path, err
		}
		from = nil
	}
}

// outdated reports whether a new action may help, because the server of the object denied access.
func outdated(err error) bool {
	e, ok := errors.AsType[*source.Error](err)
	return ok && (e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden || e.Status == http.StatusGone)
}

// refused returns err if a URL from the server leads to an address that only servers in the same network may name (rule
// 63), while the address of the LFS server is still unknown. Otherwise it returns nil.
func (s *server) refused(err error) error {
	if e, ok := errors.AsType[*address.Error](err); ok && s.near == 0 && e.Excluded == "" {
		return err
	}
	return nil
}

// fetch downloads an object from the URL of an action, and from mirrors.
func (s *session) fetch(ctx context.Context, m message, from *action) (string, error) {
	u, err := url.Parse(from.Href)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", fmt.Errorf("%s names no http or https URL for the object", s.server.url.Host)
	}
	digest, err := verify.ParseHex(verify.SHA256, m.OID)
	if err != nil {
		return "", err
	}
	t := &told{agent: s.agent, oid: m.OID}
	r := download.Request{
		URL: u, Named: address.Public | s.server.near, Dir: s.folder, MakeDir: true,
		Name: m.OID + "-braid", IfExists: download.IfExists{Rename: true},
		Access: download.Access{Header: from.fields()},
		Trust: download.Trust{
			Require: download.RequireDigest,
			Claims:  []verify.Claim{{Digest: digest, Field: "the LFS pointer", Channel: verify.User}},
		},
		Limits: download.Limits{MaxSize: max(m.Size, 1)}, Observe: t.observe,
	}
	for _, folder := range s.agent.Mirrors {
		r.Mirrors = append(r.Mirrors, below(folder, m.OID[:2], m.OID[2:4], m.OID))
	}
	s.server.addFields(r.Access.Header, u)
	if s.agent.Prepare != nil {
		if err := s.agent.Prepare(&r); err != nil {
			return "", err
		}
	}
	result, err := s.authorized(ctx, r, from)
	if err != nil {
		s.tidy(r, err)
		return "", err
	}
	t.progress(result.Size)
	return filepath.Abs(result.Path)
}

// mostServers is the maximum number of object servers whose settings are requested from git.
const mostServers = 100

// clientFor returns the client for the server of an object. It is that of the LFS server, unless git has another proxy
// or other authorities for the object server, or does not verify its certificate. No object server gets a client
// certificate, because the LFS server chooses the object servers.
func (s *session) clientFor(ctx context.Context, u *url.URL) (*download.Client, error) {
	at := &url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/"}
	c := s.clients[at.String()]
	if c != nil || s.server.isAt(u) || len(s.clients) >= mostServers {
		return cmp.Or(c, s.client), nil
	}
	known, _, err := s.agent.settings(ctx, at)
	if err != nil {
		return nil, err
	}
	c, known.Cert, known.Key = s.client, "", ""
	if known.Insecure || known.Proxy != s.known.Proxy || known.CAInfo != s.known.CAInfo {
		if c, err = s.agent.Client(known); err != nil {
			return nil, err
		}
	}
	s.clients[at.String()] = c
	return c, nil
}

// isAt reports whether u is on the LFS server.
func (s *server) isAt(u *url.URL) bool { return u.Scheme == s.url.Scheme && u.Host == s.url.Host }

// addFields adds the header fields of git's settings for the LFS server, if u is on it. Existing fields are not
// replaced.
func (s *server) addFields(fields http.Header, u *url.URL) {
	if !s.isAt(u) {
		return
	}
	for name, values := range s.fields {
		if len(fields[name]) == 0 {
			fields[name] = values
		}
	}
}

// authorized downloads an object. If the action has no credentials and the server requires them, authorized asks git.
func (s *session) authorized(ctx context.Context, r download.Request, from *action) (download.Result, error) {
	client, err := s.clientFor(ctx, r.URL)
	if err != nil {
		return download.Result{}, err
	}
	silent := len(http.Header(r.Access.Header).Values("Authorization")) == 0 && !from.authenticated
	if silent && s.server.isAt(r.URL) {
		r.Access.User = s.server.known.user
	}
	result, err := client.Get(ctx, r)
	if !unauthorized(err, r.URL) || !silent || r.Access.User != nil {
		return result, err
	}
	at := r.URL.Scheme + "://" + r.URL.Host
	known, again := s.asked[at]
	if !again {
		if known, known.none = s.agent.fill(ctx, r.URL); known.none != nil {
			s.asked[at] = known
		}
	}
	if known.none != nil { // both errors, because a new action may help
		return result, fmt.Errorf("%w; %w", err, known.none)
	}
	if known.user == nil {
		return result, err
	}
	r.Access.User = known.user
	result, err = client.Get(ctx, r)
	if unauthorized(err, r.URL) {
		s.agent.tell(ctx, &known, "reject")
		s.asked[at] = credential{}
		return result, err
	}
	if err == nil {
		s.agent.tell(ctx, &known, "approve")
	}
	s.asked[at] = known
	return result, err
}

// unauthorized reports whether the server of u requires a name and password. An answer of another server, after a
// redirect or from a mirror, is ignored.
func unauthorized(err error, u *url.URL) bool {
	e, ok := errors.AsType[*source.Error](err)
	return ok && e.Status == http.StatusUnauthorized && e.Host == source.HostPort(u)
}

// tidy removes a partial file that is useless for the next run, because it has the bytes of another object.
func (s *session) tidy(r download.Request, err error) {
	e, ok := errors.AsType[*download.Error](err)
	if !ok || e.Kind != download.Mismatch && e.Kind != download.Limit {
		return
	}
	name := r.Name
	if e.Part != "" { // another name if another process fetches the same object
		name = partfile.NameOf(filepath.Base(e.Part))
	}
	if _, failed := partfile.Remove(fsys.OS, r.Dir, name); failed == nil {
		e.Part, e.Kept = "", 0
	}
}

// left returns the path of an object that an earlier run completed but git-lfs did not move, because git-lfs was
// killed. It returns "" if the object is missing. A file younger than an hour may belong to a running git-lfs.
func (s *session) left(oid string) string {
	name := filepath.Join(s.folder, oid+"-braid")
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || time.Since(info.ModTime()) < time.Hour {
		return ""
	}
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil || fmt.Sprintf("%x", sum.Sum(nil)) != oid {
		os.Remove(name)
		return ""
	}
	if name, err = filepath.Abs(name); err != nil {
		return ""
	}
	return name
}

// A told sends the progress of an object to git-lfs. Its methods are called by one goroutine at a time.
type told struct {
	agent *Agent
	oid   string
	done  int64
}

func (t *told) observe(ev download.Event) {
	switch ev := ev.(type) {
	case download.Resumed:
		t.progress(ev.Bytes)
	case download.Progress:
		t.progress(ev.Done)
	}
}

func (t *told) progress(done int64) {
	if done > t.done {
		t.agent.say(progress{"progress", t.oid, done, done - t.done}) // if that fails, the next message fails too
		t.done = done
	}
}

// handedBack is a setting for the git-lfs process that an object is handed back to. It is passed in the environment. A
// git before 2.31 ignores it, so that git-lfs starts this agent again. The new agent finds the setting in its
// environment and refuses to hand the object back a second time.
const handedBack = "lfs.braid.handedback"

// upload hands an object back to git-lfs, which asks for uploads only because a standalone agent gets all transfers.
// The settings for that git-lfs restrict this agent to downloads, because the server may choose it for uploads, too.
func (s *session) upload(ctx context.Context, m message) error {
	const agent = ".standalonetransferagent"
	if slices.ContainsFunc(os.Environ(), func(variable string) bool { return strings.HasSuffix(variable, "="+handedBack) }) {
		return errors.New("uploads are left to git-lfs, which asks for this one again; " +
			"git 2.31 or newer is needed, or another agent for uploads")
	}
	config := append(slices.Clone(s.place.config), [2]string{"lfs" + agent},
		[2]string{"lfs.customtransfer.braid.direction", "download"},
		[2]string{handedBack, "true"})
	if name := settingName(s.place.endpoint); name != "" {
		config = append(config, [2]string{"lfs." + name + agent})
	}
	_, err := s.agent.command(ctx, Command{Args: []string{"lfs", "push", "--object-id", "--", s.place.remote, m.OID},
		Config: config})
	if err != nil {
		return fmt.Errorf("uploads are left to git-lfs, and it failed: %w", err)
	}
	return nil
}

// settingName returns the endpoint in the form used in names of git-lfs's settings, without password and query. It
// returns "" if the endpoint, which a repository can choose, must not be used in a name: git-lfs splits a setting at
// the first = and looks for the path of a program (lfs.customtransfer.NAME.path) anywhere in a name.
func settingName(endpoint *url.URL) string {
	u := url.URL{Scheme: endpoint.Scheme, Host: endpoint.Host, Path: endpoint.Path, RawPath: endpoint.RawPath}
	if name := endpoint.User.Username(); name != "" {
		u.User = url.User(name)
	}
	name := u.String()
	odd := func(r rune) bool { return !strings.ContainsRune(plainPath+":[]%~", r) }
	if strings.ContainsFunc(name, odd) || strings.Contains(strings.ToLower(name), "customtransfer") {
		return ""
	}
	return name
}
