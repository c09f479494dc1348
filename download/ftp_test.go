package download_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"net/url"
	"strings"
	"testing"
	"time"

	"braid/download"
	"braid/download/limit"
	"braid/internal/test/ftptest"
	"braid/internal/test/mirrortest"
)

// ftp starts an FTP mirror of a generated file.
func ftp(t *testing.T, size int64, options ...ftptest.Option) *ftptest.Server {
	t.Helper()
	return ftptest.New(t, bytes.NewReader(made(size, 7)), options...)
}

// naming starts an origin that has the digest and names FTP mirrors.
func naming(t *testing.T, size int64, mirrors ...*ftptest.Server) *mirrortest.Server {
	t.Helper()
	var links []string
	for _, m := range mirrors {
		links = append(links, m.URL)
	}
	return sized(t, size, mirrortest.Rate(4*mib), mirrortest.Digest(), mirrortest.Mirrors(links...))
}

// fromHost returns the results of the sources at a host.
func fromHost(res download.Result, host string) (all download.SourceResult) {
	for _, src := range res.Sources {
		if src.Host == host {
			all = src
		}
	}
	return all
}

// Proves S1: FTP mirrors send ranges beside web servers, one transfer at a time each.
func TestFTPMirrors_S1(t *testing.T) {
	t.Parallel()
	a, b := ftp(t, 12*mib, ftptest.Rate(4*mib)), ftp(t, 12*mib, ftptest.Rate(4*mib))
	a.Set(ftpHeld(4*mib, ftpSent(part, b)))
	b.Set(ftpHeld(4*mib, ftpSent(part, a)))
	origin := naming(t, 12*mib, a, b)
	origin.Set(held(4*mib, ftpSent(part, a, b)))
	r := newRun(t, origin.URL)
	res := r.right(origin.Content)
	verified(t, res, byDigest)
	for _, s := range []*ftptest.Server{a, b} {
		if got := fromHost(res, s.Addr); got.Bytes == 0 {
			t.Errorf("%s brought %d bytes: %v", s.URL, got.Bytes, got.Err)
		}
		if s.MaxConcurrent() != 1 {
			t.Errorf("%d transfers at a time", s.MaxConcurrent())
		}
	}
}

// Without a digest, nothing ties an FTP mirror to anything: it is not asked (C4).
func TestFTPMirrorsNeedDigest_C4(t *testing.T) {
	t.Parallel()
	mirror := ftp(t, 6*mib)
	origin := sized(t, 6*mib, mirrortest.Rate(4*mib), mirrortest.Mirrors(mirror.URL), mirrortest.ETag(`"v1"`))
	newRun(t, origin.URL).right(origin.Content)
	if mirror.Connections() > 0 {
		t.Error("an FTP mirror was asked without a digest")
	}
}

func TestNoFTP(t *testing.T) {
	t.Parallel()
	mirror := ftp(t, 6*mib)
	origin := naming(t, 6*mib, mirror)
	r := newRun(t, origin.URL)
	r.req.Access.NoFTP = true
	r.req.Mirrors = []*url.URL{parse(t, mirror.URL)}
	r.right(origin.Content)
	if mirror.Connections() > 0 {
		t.Error("an FTP mirror was asked")
	}
	r = newRun(t, mirror.URL)
	r.req.Access.NoFTP = true
	r.wrong(download.Usage)
}

// Rule 59: another SIZE is another file, and none of its bytes is fetched.
func TestFTPSizeDiffers_Rule59_C8(t *testing.T) {
	t.Parallel()
	mirror := ftp(t, 8*mib, ftptest.Size(8*mib+1))
	origin := naming(t, 8*mib, mirror)
	r := newRun(t, origin.URL)
	origin.Set(held(4*mib, givenUp(r, mirror.URL)))
	res := r.right(origin.Content)
	if got := fromHost(res, mirror.Addr); !got.Banned || got.Bytes > 0 || mirror.Asked("SIZE") == 0 || mirror.Asked("RETR") > 0 {
		t.Errorf("%+v, commands %q", got, mirror.Commands())
	}
}

// A mirror that stalls, breaks off, ends early or sends nonsense only costs time (rules 39, 58 and 59).
func TestFTPMirrorFails_Rule39_Rule59(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]ftptest.Option{
		"stalls":     {ftptest.StallAfter(7 * mib)},
		"resets":     {ftptest.ResetAfter(7 * mib)},
		"ends early": {ftptest.EndAfter(7 * mib)},
		"endless":    {ftptest.Reply("SIZE", strings.Repeat("x", 1<<20))},
		"says no":    {ftptest.Reply("RETR", "550 no\r\n")},
		"is silent":  {ftptest.Reply("EPSV", "")},
		"no REST":    {ftptest.Reply("REST", "502 no\r\n"), ftptest.Reply("FEAT", "500 no\r\n")},
		"longer":     {ftptest.Longer(10)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mirror := ftp(t, 12*mib, append(options, ftptest.Rate(4*mib))...)
			origin := naming(t, 12*mib, mirror)
			origin.Set(held(4*mib, func() bool { return mirror.Connections() > 0 }))
			res := newRun(t, origin.URL).right(origin.Content)
			verified(t, res, byDigest)
			if mirror.Connections() == 0 {
				t.Error("the mirror was not asked")
			}
		})
	}
}

// Wrong bytes of an FTP mirror are found by the digest, and the mirror is named and left out (rule 40). One
// that ignores REST is such a mirror.
func TestFTPMirrorLies_Rule40(t *testing.T) {
	t.Parallel()
	var everywhere []int64
	for off := int64(0); off < 12*mib; off += 64 << 10 {
		everywhere = append(everywhere, off)
	}
	for name, lie := range map[string]ftptest.Option{"corrupt": ftptest.Corrupt(everywhere...),
		"no REST after all": ftptest.IgnoreRest()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mirror := ftp(t, 12*mib, ftptest.Rate(4*mib), lie)
			origin := naming(t, 12*mib, mirror)
			origin.Set(held(4*mib, ftpSent(part, mirror)))
			res := newRun(t, origin.URL).right(origin.Content)
			if got := fromHost(res, mirror.Addr); !got.Banned {
				t.Errorf("the mirror is not banned: %+v", got)
			}
		})
	}
}

// An FTP server alone proves nothing; the user's digest does.
func TestFTPOrigin(t *testing.T) {
	t.Parallel()
	s := ftp(t, 3*mib)
	content := mirrortest.Generate(3*mib, 7)
	res := newRun(t, s.URL).right(content)
	verified(t, res, "unverified")
	if !res.LastModified.Equal(time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)) {
		t.Errorf("modified %v", res.LastModified)
	}
	r := newRun(t, s.URL+";type=i")
	r.req.Trust.Claims = userClaim(content.Digest())
	verified(t, r.right(content), byUser)
	r = newRun(t, s.URL)
	r.req.Trust.Require = download.RequireDigest
	if r.wrong(download.NoEvidence); s.Asked("RETR") > 2 {
		t.Errorf("commands are %q", s.Commands())
	}
}

// Several FTP servers and the user's digest are as good as web mirrors.
func TestFTPOnly(t *testing.T) {
	t.Parallel()
	a, b := ftp(t, 12*mib, ftptest.Rate(4*mib)), ftp(t, 12*mib, ftptest.Rate(4*mib))
	a.Set(ftpHeld(4*mib, ftpSent(part, b)))
	b.Set(ftpHeld(4*mib, ftpSent(part, a)))
	content := mirrortest.Generate(12*mib, 7)
	r := newRun(t, a.URL)
	r.req.Mirrors = []*url.URL{parse(t, b.URL)}
	r.req.Trust.Claims = userClaim(content.Digest())
	res := r.right(content)
	if fromHost(res, a.Addr).Bytes == 0 || fromHost(res, b.Addr).Bytes == 0 {
		t.Errorf("sources are %+v", res.Sources)
	}
}

// With a digest an interrupted download resumes; without one it starts over (S18).
func TestFTPResume_S18(t *testing.T) {
	t.Parallel()
	content := mirrortest.Generate(8*mib, 7)
	for _, vouched := range []bool{true, false} {
		s := ftp(t, 8*mib, ftptest.Rate(8*mib))
		r := newRun(t, s.URL)
		if vouched {
			r.req.Trust.Claims = userClaim(content.Digest())
		}
		s.Set(ftptest.StallAfter(4 * mib)) // it does not end before the interruption
		r.interrupt(2 * mib)
		s.Set(ftptest.Rate(1<<40), ftptest.StallAfter(-1))
		if res := r.right(content); res.Resumed > 0 != vouched {
			t.Errorf("vouched %t: %d bytes were resumed", vouched, res.Resumed)
		}
	}
}

// A mirror that the user named stands in for a failed origin (rule 30), with the name and password in its own
// URL (rule 59). The origin's are not sent to it.
func TestFTPStandsIn_Rule30_Rule59(t *testing.T) {
	t.Parallel()
	for userinfo, user := range map[string]string{"": "anonymous", "bob:x@": "bob"} {
		content := mirrortest.Generate(3*mib, 7)
		mirror := ftp(t, 3*mib, ftptest.User(user, map[string]string{"bob": "x", "anonymous": "braid@"}[user]))
		origin := sized(t, 3*mib, mirrortest.Status(503))
		r := newRun(t, origin.URL)
		r.req.Access.User = url.UserPassword("eve", "secret")
		r.req.Mirrors = []*url.URL{parse(t, strings.Replace(mirror.URL, "//", "//"+userinfo, 1))}
		verified(t, r.right(content), "unverified")
		if mirror.Asked("USER "+user) == 0 || mirror.Asked("USER eve") > 0 {
			t.Errorf("commands are %q", mirror.Commands())
		}
	}
}

// Known names and passwords are for servers that the user named, not for those that a server names (rule 59).
func TestFTPCredentials_Rule59(t *testing.T) {
	t.Parallel()
	private := ftptest.User("bob", "x")
	typed, named := ftp(t, 6*mib, private, ftptest.Rate(4*mib)), ftp(t, 6*mib, private)
	origin := naming(t, 6*mib, named)
	known := func() bool { return named.Asked("USER") > 0 }
	typed.Set(ftpHeld(4*mib, known))
	origin.Set(held(4*mib, allOf(known, ftpSent(part, typed))))
	r := newRun(t, origin.URL)
	r.req.Mirrors = []*url.URL{parse(t, typed.URL)}
	r.client.Credentials = func(*url.URL) *url.Userinfo { return url.UserPassword("bob", "x") }
	res := r.right(origin.Content)
	if got := fromHost(res, typed.Addr); got.Bytes == 0 || typed.Asked("USER bob") == 0 {
		t.Errorf("the user's mirror: %+v, %q", got, typed.Commands())
	}
	if named.Asked("USER anonymous") == 0 || named.Asked("USER bob") > 0 {
		t.Errorf("the server's mirror: %q", named.Commands())
	}
	r = newRun(t, named.URL)
	r.client.Credentials = func(*url.URL) *url.Userinfo { return url.UserPassword("bob", "x") }
	r.right(mirrortest.Generate(6*mib, 7))
}

// The authorities for https also apply to ftps.
func TestFTPS(t *testing.T) {
	t.Parallel()
	config, pem := mirrortest.Certify(t, nil)
	s := ftp(t, 2*mib, ftptest.TLS(config))
	r := newRun(t, s.URL)
	if e := r.wrong(download.TLS); s.Asked("USER") > 0 {
		t.Errorf("%v, commands %q", e, s.Commands())
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	r = newRun(t, s.URL)
	r.tls = &tls.Config{RootCAs: pool}
	r.right(mirrortest.Generate(2*mib, 7))
}

// A limit also applies to FTP.
func TestFTPLimit(t *testing.T) {
	t.Parallel()
	s := ftp(t, 3*mib)
	r := newRun(t, s.URL)
	r.client.Limit = limit.New(4 * mib)
	if res := r.right(mirrortest.Generate(3*mib, 7)); res.Elapsed < 500*time.Millisecond {
		t.Errorf("3 MiB took %v at 4 MiB a second", res.Elapsed)
	}
}

func TestProbeFTP(t *testing.T) {
	t.Parallel()
	s := ftp(t, 3*mib)
	var c download.Client
	o, err := c.Probe(t.Context(), download.Request{URL: parse(t, s.URL)})
	if err != nil || o.Size != 3*mib || !o.Ranges || len(o.File.Claims) > 0 || s.Asked("RETR") > 0 {
		t.Errorf("%+v, %v, commands %q", o, err, s.Commands())
	}
}

// The file already exists: SIZE alone proves nothing, the user's digest does, and no server is asked.
func TestFTPAlreadyThere_Rule3(t *testing.T) {
	t.Parallel()
	s := ftp(t, 3*mib)
	content := mirrortest.Generate(3*mib, 7)
	r := newRun(t, s.URL)
	r.right(content)
	r.fails(download.Local)
	r.req.Trust.Claims = userClaim(content.Digest())
	if res := r.right(content); !res.AlreadyComplete || s.Asked("RETR") != 1 {
		t.Errorf("%+v, commands %q", res, s.Commands())
	}
}
