package apt

import (
	"cmp"
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"braid/download"
	"braid/download/state"
	"braid/source"
	"braid/verify"
)

// An item is a file that apt requests with message 600.
type item struct {
	uri        string // as apt writes it
	configured []*url.URL
	mirrors    []*url.URL
	file       string         // path at which apt wants the file
	claims     []verify.Claim // strong digests that apt requires
	size       int64          // -1 if apt does not know it
	most       int64          // maximum number of bytes, unless zero
	since      time.Time      // modification time of the file that apt has
	proxy      string
}

// newItem returns the item that a message requests.
func (s *settings) newItem(m *Message) (*item, error) {
	x := &item{uri: m.Get("URI"), file: m.Get("Filename"), size: -1, proxy: m.Get("Proxy")}
	if x.uri == "" || x.file == "" {
		return x, errors.New("apt sent no URI or no Filename")
	}
	if err := x.demands(m); err != nil {
		return x, err
	}
	uri := x.uri
	if !is(s.get("Acquire::Send-URI-Encoded"), false) {
		uri = encode(uri)
	}
	configured, mirrors, err := s.places(uri, m)
	if err != nil {
		return x, err
	}
	if x.configured, err = s.parse(configured); err != nil || len(x.claims) == 0 {
		return x, err
	}
	x.mirrors, err = s.parse(mirrors)
	x.configured, x.mirrors = x.configured[:1], append(x.configured[1:], x.mirrors...)
	return x, err
}

// demands reads the digests, the size and the limits that a message requires.
func (x *item) demands(m *Message) (err error) {
	for _, name := range []string{"SHA512", "SHA256"} {
		word := m.Get("Expected-" + name)
		if word == "" {
			continue
		}
		c, err := verify.Hex(word)
		if err != nil || !c.Digest.Algorithm().Strong() {
			return fmt.Errorf("the digest in Expected-%s is not valid", name)
		}
		c.Field, c.Channel = "apt's "+name, verify.User
		x.claims = append(x.claims, c)
	}
	if x.size, err = bytesOf(m, "Expected-Checksum-FileSize", -1); err != nil {
		return err
	}
	if x.most, err = bytesOf(m, "Maximum-Size", 0); err != nil {
		return err
	}
	if x.size >= 0 {
		x.most = max(x.size, 1)
	}
	if since, err := http.ParseTime(m.Get("Last-Modified")); err == nil {
		x.since = since
	}
	return nil
}

// bytesOf returns the number of bytes in the field called name, or def if the field is missing.
func bytesOf(m *Message, name string, def int64) (int64, error) {
	word := m.Get(name)
	if word == "" {
		return def, nil
	}
	n, err := strconv.ParseInt(word, 10, 64)
	if err != nil || n < 0 {
		return def, fmt.Errorf("%s is not a number of bytes", name)
	}
	return n, nil
}

// encode escapes the path of a URI from an apt that sends it unescaped.
func encode(uri string) string {
	scheme, rest, ok := strings.Cut(uri, "://")
	host, path, more := strings.Cut(rest, "/")
	if !ok || !more {
		return uri
	}
	return scheme + "://" + host + (&url.URL{Path: "/" + path}).EscapedPath()
}

// parse parses URLs. It returns an error if a setting forbids one of the URLs.
func (s *settings) parse(words []string) (all []*url.URL, err error) {
	for _, word := range words {
		u, err := url.Parse(word)
		switch {
		case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
			return nil, errors.New("not an http or https URL")
		case u.Scheme == "https" && !is(s.get("Acquire::AllowTLS"), true):
			return nil, errors.New("https is off (Acquire::AllowTLS)")
		case strings.HasSuffix(strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")), ".onion") &&
			is(s.get("Acquire::BlockDotOnion"), true):
			return nil, errors.New(".onion hosts are blocked (Acquire::BlockDotOnion)")
		}
		all = append(all, u)
	}
	return all, nil
}

// request returns a request for the file on the configured server u. Mirrors are used only if apt requires a digest.
func (x *item) request(u *url.URL, user *url.Userinfo) download.Request {
	r := download.Request{
		URL: u, Access: download.Access{User: user}, Dir: filepath.Dir(x.file),
		Name: filepath.Base(x.file), IfExists: download.IfExists{Overwrite: true}, RemoteTime: true,
		Detail:     true,
		NoMetalink: len(x.claims) == 0,
	}
	// Send If-Modified-Since only without a digest: a 304 response has no content to check, but apt would accept it.
	if len(x.claims) == 0 && !x.since.IsZero() {
		r.IfExists.Known = &state.Version{LastModified: x.since}
	}
	if len(x.claims) > 0 {
		r.Trust.Claims, r.Mirrors, r.Trust.Require = x.claims, x.mirrors, download.RequireDigest
	}
	if len(x.mirrors) > 0 && x.size >= 0 {
		r.Described = x.described(u)
	}
	r.Access.NoReferer = true // mirrors must not receive the URL of apt's server
	return r
}

// described returns a description with the size that apt knows, so that the download can begin at any mirror.
func (x *item) described(u *url.URL) *download.Described {
	return &download.Described{Name: filepath.Base(x.file), By: "apt", URL: u, Over: verify.User, Size: x.size}
}

// done returns the message that reports the complete file.
func (x *item) done(r download.Result) (*Message, error) {
	m := &Message{Code: 201, Text: "URI Done"}
	m.Add("URI", x.uri)
	m.Add("Filename", x.file)
	if r.NotModified {
		m.Add("Last-Modified", x.since.UTC().Format(http.TimeFormat))
		m.Add("IMS-Hit", "true")
		return m, nil
	}
	m.Add("Size", strconv.FormatInt(r.Size, 10))
	if !r.LastModified.IsZero() {
		m.Add("Last-Modified", r.LastModified.UTC().Format(http.TimeFormat))
	}
	if r.Resumed > 0 {
		m.Add("Resume-Point", strconv.FormatInt(r.Resumed, 10))
	}
	m.Add("Checksum-FileSize-Hash", strconv.FormatInt(r.Size, 10))
	if r.Proof.Verified() && len(x.claims) > 0 { // the download computed the digest
		for _, d := range r.Proof.Digests() {
			m.addHash(d)
		}
		return m, nil
	}
	return m, addHashes(m, x.file)
}

// addHash adds the field of a digest, if apt has a name for its algorithm.
func (m *Message) addHash(d verify.Digest) {
	if name, ok := hashName[d.Algorithm()]; ok {
		m.Add(name, d.Hex())
	}
}

// hashName maps algorithms to apt's names of digests.
var hashName = map[verify.Algorithm]string{verify.MD5: "MD5Sum-Hash", verify.SHA1: "SHA1-Hash",
	verify.SHA256: "SHA256-Hash", verify.SHA512: "SHA512-Hash"}

// addHashes adds the digests of the file called name to m.
func addHashes(m *Message, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	sums := []struct {
		name string
		hash.Hash
	}{{"SHA512-Hash", sha512.New()}, {"SHA256-Hash", sha256.New()}, {"SHA1-Hash", sha1.New()}, {"MD5Sum-Hash", md5.New()}}
	var all []io.Writer
	for _, s := range sums {
		all = append(all, s)
	}
	if _, err := io.Copy(io.MultiWriter(all...), f); err != nil {
		return err
	}
	for _, s := range sums {
		m.Add(s.name, fmt.Sprintf("%x", s.Sum(nil)))
	}
	return nil
}

// failed returns the message that reports a failed download.
func (x *item) failed(err error) *Message {
	m := &Message{Code: 400, Text: "URI Failure"}
	m.Add("URI", cmp.Or(x.uri, "<UNKNOWN>"))
	m.Add("Message", source.Escape(err.Error()))
	reason, transient := reasonOf(err)
	m.Add("FailReason", reason)
	if transient {
		m.Add("Transient-Failure", "true")
	}
	// apt's text about a wrong digest quotes the digest from the field that addHash adds.
	if wrong, ok := errors.AsType[*verify.MismatchError](err); ok && reason == "HashSumMismatch" {
		m.addHash(wrong.Got)
	}
	return m
}

// reasonOf returns apt's word for a failure, and whether it is temporary.
func reasonOf(err error) (reason string, transient bool) {
	var src *source.Error
	if errors.As(err, &src) && src.Status >= 400 {
		return fmt.Sprintf("HttpError%d", src.Status),
			src.Status >= 500 || src.Status == http.StatusTooManyRequests || src.Status == http.StatusRequestTimeout
	}
	kind := download.Other
	if e, ok := errors.AsType[*download.Error](err); ok {
		kind = e.Kind
	}
	if name, ok := errors.AsType[*net.DNSError](err); ok {
		if name.IsNotFound {
			return "ResolveFailure", true
		}
		return "TmpResolveFailure", true
	}
	if silent, ok := errors.AsType[net.Error](err); ok && silent.Timeout() {
		return "Timeout", true
	}
	switch {
	case kind == download.Mismatch:
		return "HashSumMismatch", false
	case kind == download.Limit:
		return "MaximumSizeExceeded", false
	case errors.Is(err, syscall.ECONNREFUSED):
		return "ConnectionRefused", true
	}
	return "", kind == download.Network || kind == download.Budget
}

// fetch downloads the file from the first configured server that succeeds.
func (x *item) fetch(ctx context.Context, c *download.Client, h *hosts, logins []login,
	observe func(download.Event)) (result download.Result, err error) {
	begun, err := x.plain()
	if err == nil {
		err = x.free()
	}
	if err != nil {
		return result, err
	}
	for _, u := range x.configured {
		user, plain := credentials(logins, u)
		if plain != "" {
			observe(download.Note{Text: fmt.Sprintf("the password for %s in auth.conf is not sent, "+
				"because it is not for %s://", plain, u.Scheme), Plain: true})
		}
		r := x.request(u, user)
		r.Observe = observe
		if r.Described != nil {
			sorted, done := h.order(append([]*url.URL{u}, x.mirrors...), x.size, time.Now())
			defer func() { done(time.Now()); h.learn(result.Sources) }()
			r.URL, r.Mirrors = sorted[0], sorted[1:]
		}
		if _, ours := os.Lstat(x.file + ".part"); begun > 0 && errors.Is(ours, fs.ErrNotExist) {
			result, err = x.goOn(ctx, c, r)
		} else {
			result, err = x.get(ctx, c, r)
		}
		if err == nil || ctx.Err() != nil || len(x.claims) > 0 {
			return result, err
		}
	}
	return result, err
}

// get downloads the file to its target.
func (x *item) get(ctx context.Context, c *download.Client, r download.Request) (download.Result, error) {
	if r.Target = x.target(); r.Target == nil {
		return c.Get(ctx, r)
	}
	r.Dir, r.Name, r.IfExists.Overwrite, r.RemoteTime = "", "", false, false
	result, err := c.Get(ctx, r)
	if err == nil && !result.NotModified && !result.LastModified.IsZero() {
		err = os.Chtimes(x.file, time.Time{}, result.LastModified)
	}
	return result, err
}

// goOn continues a file that apt or another of apt's transports left. That file may be the beginning of the requested
// file, or all of it. The digest decides.
func (x *item) goOn(ctx context.Context, c *download.Client, r download.Request) (download.Result, error) {
	if len(x.claims) == 0 || x.size < 0 {
		return x.get(ctx, c, r)
	}
	begun := r
	if begun.IfExists.Overwrite = false; r.Described == nil {
		begun.Described = x.described(r.URL)
	}
	v, err := c.Verify(ctx, begun)
	switch {
	case err == nil:
		return download.Result{Path: v.Path, Size: v.Size, Proof: v.Proof, AlreadyComplete: true}, nil
	case ctx.Err() == nil && v.Repairable():
		return c.Repair(ctx, v, r.Observe)
	}
	return x.get(ctx, c, r)
}
