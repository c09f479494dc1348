package lfs

import (
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

	"braid/download"
	"braid/internal/fsys"
	"braid/internal/partfile"
	"braid/source"
	"braid/source/httpsource"
	"braid/verify"
)

// A session is what is known after init.
type session struct {
	agent  *Agent
	place  place
	client *download.Client
	server *server
	folder string                // of part files
	asked  map[string]credential // what git has for servers of objects, by scheme and host; without a user: nothing that they take
}

// open makes the session of a remote.
func (a *Agent) open(ctx context.Context, m message) (s *session, err error) {
	s = &session{agent: a, asked: map[string]credential{}}
	if s.place, err = a.find(ctx, m.Remote); err != nil || m.Operation == "upload" {
		return s, err
	}
	at := s.place.endpoint
	if at.Scheme != "http" && at.Scheme != "https" || at.Host == "" {
		own := `""`
		if at.Scheme == "file" {
			own = "lfs-standalone-file" // the agent in git-lfs, which takes itself for this only where no other one is named
		}
		return nil, fmt.Errorf("%s is not at a web server; git config lfs.standalonetransferagent %s leaves this repository to git-lfs", at.Redacted(), own)
	}
	known, fields, err := a.settings(ctx, at)
	if err != nil {
		return nil, err
	}
	if s.client, err = a.Client(known); err != nil {
		return nil, err
	}
	if s.client.HTTP == nil {
		own := *s.client
		own.HTTP, s.client = &httpsource.Client{}, &own
	}
	s.server = &server{http: s.client.HTTP, url: withoutUser(at), at: at, fields: http.Header{}, agent: a}
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
	s.folder = filepath.Join(s.place.storage, "incomplete") // which git-lfs does not tidy after an hour, as it does tmp
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

// mostRenewals is how often an action of one object is made anew.
const mostRenewals = 3

// download brings an object and returns where it is. Git-lfs moves it.
func (s *session) download(ctx context.Context, m message) (path string, err error) {
	if path = s.left(m.OID); path != "" {
		return path, nil
	}
	from := m.Action
	for renewal := 0; ; renewal++ {
		if from == nil || from.Href == "" || from.expired(time.Now()) {
			if from, err = s.server.ask(ctx, m.OID, m.Size); err != nil {
				return "", err
			}
		}
		path, err = s.fetch(ctx, m, from)
		if err == nil || ctx.Err() != nil || renewal == mostRenewals || !outdated(err) && !from.expired(time.Now()) {
			return path, err
		}
		from = nil
	}
}

// outdated reports whether another action may do: the server of the object says that it does not let us in (any more).
func outdated(err error) bool {
	e, ok := errors.AsType[*source.Error](err)
	return ok && (e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden || e.Status == http.StatusGone)
}

// fetch brings an object from where an action says that it is, and from mirrors.
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
		URL: u, Named: from.named, Dir: s.folder, MakeDir: true, Name: m.OID + "-braid", Rename: true, Header: from.fields(), Require: download.RequireDigest, MaxSize: max(m.Size, 1),
		Claims: []verify.Claim{{Digest: digest, Field: "the LFS pointer", Channel: verify.User}}, Observe: t.observe,
	}
	for _, folder := range s.agent.Mirrors {
		r.Mirrors = append(r.Mirrors, below(folder, m.OID[:2], m.OID[2:4], m.OID))
	}
	s.server.addFields(r.Header, u)
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

// isAt reports whether an object is at the server that says where objects are.
func (s *server) isAt(u *url.URL) bool { return u.Scheme == s.url.Scheme && u.Host == s.url.Host }

// addFields adds what git's settings have for the server, if u is there. What is there counts more.
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

// authorized downloads with what git knows of the server of the object, if the action has nothing for it and the server
// wants to see something.
func (s *session) authorized(ctx context.Context, r download.Request, from *action) (download.Result, error) {
	silent := len(http.Header(r.Header).Values("Authorization")) == 0 && !from.authenticated
	if silent && s.server.isAt(r.URL) {
		r.User = s.server.known.user
	}
	result, err := s.client.Get(ctx, r)
	if !unauthorized(err, r.URL) || !silent || r.User != nil {
		return result, err
	}
	at := r.URL.Scheme + "://" + r.URL.Host
	known, again := s.asked[at]
	if !again {
		if known, known.none = s.agent.fill(ctx, r.URL); known.none != nil {
			s.asked[at] = known
		}
	}
	if known.none != nil { // with both: another action may do
		return result, fmt.Errorf("%w; %w", err, known.none)
	}
	if known.user == nil {
		return result, err
	}
	r.User = known.user
	result, err = s.client.Get(ctx, r)
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

// unauthorized reports whether the server at u wants a name and password, and not one that it led to, or a mirror.
func unauthorized(err error, u *url.URL) bool {
	e, ok := errors.AsType[*source.Error](err)
	return ok && e.Status == http.StatusUnauthorized && e.Host == source.HostPort(u)
}

// tidy removes what is of no use to the next run: the bytes of another object.
func (s *session) tidy(r download.Request, err error) {
	e, ok := errors.AsType[*download.Error](err)
	if !ok || e.Kind != download.Mismatch && e.Kind != download.Limit {
		return
	}
	name := r.Name
	if e.Part != "" { // it may have been another one, as a second git-lfs fetches the same object
		name = partfile.NameOf(filepath.Base(e.Part))
	}
	if _, failed := partfile.Remove(fsys.OS, r.Dir, name); failed == nil {
		e.Part, e.Kept = "", 0
	}
}

// left is where an object is that an earlier run completed, and that git-lfs was killed before it moved; empty if there
// is none. A younger file may be that of a git-lfs that runs.
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

// A told is how much of an object git-lfs has heard of. Its methods are called by one goroutine at a time.
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
		t.agent.say(progress{"progress", t.oid, done, done - t.done}) // if that fails, what follows it does, too
		t.done = done
	}
}

// handedBack is a setting that git-lfs has that an object was handed back to, and the agents that it starts
// nevertheless: with a git that reads no settings from its environment (before 2.31). They are not to hand the object
// back once more.
const handedBack = "lfs.braid.handedback"

// upload hands an object back to git-lfs, which knows how. It is asked here only because a standalone agent is asked
// for all. The agent of the user's settings is for downloads there, as the server may name it for uploads as well.
func (s *session) upload(ctx context.Context, m message) error {
	const agent = ".standalonetransferagent"
	if slices.ContainsFunc(os.Environ(), func(variable string) bool { return strings.HasSuffix(variable, "="+handedBack) }) {
		return errors.New("uploads are left to git-lfs, which asks for this one again; git 2.31 or newer is needed, or another agent for uploads")
	}
	config := append(slices.Clone(s.place.config), [2]string{"lfs" + agent}, [2]string{"lfs.customtransfer.braid.direction", "download"},
		[2]string{handedBack, "true"})
	if name := settingName(s.place.endpoint); name != "" {
		config = append(config, [2]string{"lfs." + name + agent})
	}
	_, err := s.agent.command(ctx, Command{Args: []string{"lfs", "push", "--object-id", "--", s.place.remote, m.OID}, Config: config})
	if err != nil {
		return fmt.Errorf("uploads are left to git-lfs, and it failed: %w", err)
	}
	return nil
}

// settingName is an endpoint as it stands in the name of a setting of git-lfs, without its password and query; empty if
// it must not. A repository chooses it, and git-lfs splits a setting at the first =, and finds the path of a program
// (lfs.customtransfer.NAME.path) anywhere in a name.
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
