// Package objectstore stores downloads in an object store. A [Store] is a [download.Store] in a bucket of Amazon's
// store or of a store with the same protocol.
//
// A file is uploaded in parts while it is downloaded. It becomes visible only by the last request, Complete. Complete requires
// a proof of the whole file. It is sent with If-None-Match: * or with If-Match and the ETag of the object to replace. Uploaded
// bytes cannot be read back. Therefore a journal keeps, for each part, what another process needs to continue the upload.
//
// The package does not manage buckets, policies or versions.
//
//	store, err := objectstore.Open("s3://bucket/isos/", objectstore.Options{Folder: "/var/lib/example"})
//	...
//	_, err = client.Get(ctx, download.Request{URL: u, Store: store})
package objectstore

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"braid/download"
	"braid/internal/web"
	"braid/verify"
)

// Options configures a Store, in addition to the environment.
type Options struct {
	// Folder is the folder for the journals of uploads and the results of testing stores. If empty, nothing is kept,
	// and an upload that was killed begins again.
	Folder string
	// Note is called with messages for the user that are not errors. Any goroutine may call it. It may be nil.
	Note func(text string)
	// Timeout is how long the store may send nothing. If zero, it is a minute.
	Timeout time.Duration
	// UserAgent, such as "braid/1.0", is added to the library's User-Agent field.
	UserAgent string
	// Getenv returns an environment variable. If nil, os.Getenv is used.
	Getenv func(name string) string
}

// A Lease is the right to one download, for processes that hold it one after the other.
type Lease struct {
	// Job identifies the download. It is in the metadata of the object, so that a later attempt can find out whether an
	// earlier one created the object.
	Job string
	// Opened is called with the ID of an upload before a part is sent. The next holder of the lease aborts the upload
	// with that ID. An error ends the download.
	Opened func(ctx context.Context, upload string) error
	// Confirm is called immediately before an object is created. An error ends the download, and the object is not created.
	Confirm func(ctx context.Context) error
}

// A Store is a bucket, with a prefix for the names of files.
type Store struct {
	options  Options
	lease    *Lease // nil without a lease
	core     *minio.Core
	access   *credentials.Credentials
	endpoint string
	bucket   string
	prefix   string
	probed   *conditions
	swept    *sync.Once   // guards sweepAbandoned
	there    *atomic.Bool // the bucket is known to exist
}

// IsURL reports whether word is a URL in an object store.
func IsURL(word string) bool { return strings.HasPrefix(word, "s3://") }

// split splits word, which has the form s3://bucket/key. The key may be empty.
func split(word string) (bucket, key string, err error) {
	u, err := url.Parse(word)
	switch {
	case !IsURL(word) || err != nil:
		return "", "", errors.New("write s3://BUCKET/PREFIX/")
	case u.User != nil:
		return "", "",
			errors.New("credentials are not allowed in the URL: they are read from the environment and ~/.aws/credentials")
	case u.Host == "" || u.Port() != "":
		return "", "", errors.New("the name of a bucket must follow s3://")
	}
	key = strings.TrimPrefix(strings.TrimPrefix(word, "s3://"), u.Host)
	key = strings.TrimPrefix(key, "/")
	if key != "" && !validKey(strings.TrimSuffix(key, "/")) {
		return "", "", errKey
	}
	return u.Host, key, nil
}

var errKey = errors.New("not a valid object key: it has an empty part, . or .., a control character, or more than 1024 bytes")

// validKey reports whether other programs can use key unchanged, and whether it can be a path below a folder.
func validKey(key string) bool {
	for part := range strings.SplitSeq(key, "/") {
		if part == "" || part == "." || part == ".." {
			return false
		}
	}
	return len(key) <= 1024 && utf8.ValidString(key) && !strings.ContainsFunc(key, unicode.IsControl)
}

// Open returns a store for files below place, s3://bucket/prefix/. As other programs do, it reads the endpoint, the
// region, the credentials and the addressing style from AWS_* in the environment and from the files in ~/.aws. It sends
// no request. The error is a *download.Error.
func Open(place string, o Options) (*Store, error) {
	bucket, prefix, err := split(place)
	if err != nil {
		return nil, &download.Error{Kind: download.Usage, What: "store", Where: "s3://", Err: err}
	}
	if prefix != "" && !strings.HasSuffix(prefix, "/") {
		prefix += "/"
	}
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Timeout == 0 {
		o.Timeout = time.Minute
	}
	if o.Note == nil {
		o.Note = func(string) {}
	}
	s := &Store{options: o, bucket: bucket, prefix: prefix, swept: new(sync.Once), there: new(atomic.Bool)}
	c, err := readConfig(o.Getenv)
	if err == nil {
		err = s.connect(c)
	}
	if err != nil {
		return nil, configFault(place, err)
	}
	s.probed = &conditions{store: s}
	return s, nil
}

func (s *Store) connect(c config) error {
	transport, err := s.transport(c)
	if err != nil {
		return err
	}
	s.access = c.credentials
	s.endpoint = c.endpoint.Scheme + "://" + c.endpoint.Host
	s.core, err = minio.NewCore(c.endpoint.Host, &minio.Options{
		Creds: c.credentials, Secure: c.endpoint.Scheme == "https", Transport: bounded{transport}, Region: c.region,
		BucketLookup: c.lookup, MaxRetries: tries,
	})
	if err == nil && s.options.UserAgent != "" {
		name, version, _ := strings.Cut(s.options.UserAgent, "/")
		s.core.SetAppInfo(name, version)
	}
	return err
}

// tries is how often a request is sent that fails temporarily.
const tries = 10

func (s *Store) transport(c config) (*http.Transport, error) {
	proxies, err := web.ProxiesFromEnvironment(s.options.Getenv) // http.ProxyFromEnvironment ignores an invalid proxy
	if err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Timeout: 20 * time.Second, KeepAlive: 15 * time.Second}
	t := &http.Transport{
		Proxy:               func(r *http.Request) (*url.URL, error) { return proxies.For(r.URL), nil },
		TLSHandshakeTimeout: 20 * time.Second, ResponseHeaderTimeout: s.options.Timeout,
		MaxIdleConnsPerHost: 2 * atOnce, IdleConnTimeout: 90 * time.Second, DisableCompression: true, WriteBufferSize: 64 << 10,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return &patientConn{conn, s.options.Timeout}, nil
		},
	}
	if c.bundle == "" {
		return t, nil
	}
	pem, err := os.ReadFile(c.bundle)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("AWS_CA_BUNDLE %s: no certificate in it", c.bundle)
	}
	t.TLSClientConfig = &tls.Config{RootCAs: pool}
	return t, nil
}

// A patientConn returns an error if no data is transferred for the time silence.
type patientConn struct {
	net.Conn
	silence time.Duration
}

func (c *patientConn) Read(p []byte) (int, error) {
	c.Conn.SetReadDeadline(time.Now().Add(c.silence))
	return c.Conn.Read(p)
}

func (c *patientConn) Write(p []byte) (int, error) {
	c.Conn.SetWriteDeadline(time.Now().Add(c.silence))
	return c.Conn.Write(p)
}

// Path implements download.Store.
func (s *Store) Path(name string) string { return "s3://" + s.bucket + "/" + s.prefix + name }

// Endpoint returns the scheme, host and port of the store, without a default port. All endpoints of Amazon count as the
// same, because a bucket has the same name at all of them.
func (s *Store) Endpoint() string {
	plain := strings.ToLower(s.endpoint)
	if strings.HasPrefix(plain, "https:") {
		plain = strings.TrimSuffix(plain, ":443")
	} else {
		plain = strings.TrimSuffix(plain, ":80")
	}
	if strings.HasSuffix(plain, ".amazonaws.com") {
		return amazon
	}
	return plain
}

// Upload implements download.Store.
func (s *Store) Upload(name string) download.Upload { return newUpload(s, s.prefix+name) }

// Existing returns the object called name. If it does not exist, the error is fs.ErrNotExist; see download.Upload.
func (s *Store) Existing(ctx context.Context, name string) (*download.Existing, error) {
	return newUpload(s, s.prefix+name).Existing(ctx)
}

// Latest returns the text that SetLatest has put into the object called name, or "" if the object does not exist. An
// object that SetLatest did not make is an error.
func (s *Store) Latest(ctx context.Context, name string) (text string, err error) {
	_, text, err = latestOf(ctx, newUpload(s, s.prefix+name))
	return text, err
}

// SetLatest makes the object called name contain a line of ASCII text. It replaces only an object that SetLatest made.
func (s *Store) SetLatest(ctx context.Context, name, text string) error {
	return s.RaiseLatest(ctx, name, text, func(string) bool { return false })
}

// RaiseLatest is like SetLatest, but changes nothing if isOlder returns true for the current text in the object.
func (s *Store) RaiseLatest(ctx context.Context, name, text string, isOlder func(than string) bool) error {
	return setLatest(ctx, newUpload(s, s.prefix+name), text, isOlder)
}

// Amend replaces the content of the object called name by the result of f. f gets the content, of at most limit bytes,
// or nil if the object does not exist. If another process replaces the object at the same time, f is called again. An
// object that Amend did not make, or that is damaged, is an error.
func (s *Store) Amend(ctx context.Context, name string, limit int64, f func(data []byte) ([]byte, error)) error {
	return amend(ctx, newUpload(s, s.prefix+name), limit, f)
}

// Remove removes the object called name, and the evidence beside it, if the function is returns true for the object. An
// object that is replaced after that call stays, unless the store ignores If-Match.
func (s *Store) Remove(ctx context.Context, name string, is func(*download.Existing) bool) error {
	return remove(ctx, newUpload(s, s.prefix+name), is)
}

// Leased returns a store for a download with a lease. It is not an error if another process on this machine still
// uploads the same object: that process has lost the lease. It keeps its journal, and this download has none.
func (s *Store) Leased(l Lease) *Store {
	own := *s
	own.lease = &l
	return &own
}

// Abort aborts the upload with that ID of the object called name, so that its Complete fails. An upload that does not
// exist is not an error. Without a lease, an upload that a process on this machine uses is an error.
func (s *Store) Abort(ctx context.Context, name, upload string) error {
	return s.end(ctx, Left{Key: s.prefix + name, Upload: upload})
}

// TakeOver aborts all uploads of the object called name: the one with the ID that an earlier attempt stored, and
// others, because an attempt may have been killed before it stored the ID. The upload with that ID is kept if this
// process can continue it: this machine has its journal, and no other process uses it. made reports whether an earlier
// attempt at the lease's Job created the object.
func (s *Store) TakeOver(ctx context.Context, name, upload string) (made bool, err error) {
	u := newUpload(s, s.prefix+name)
	if err := u.openToWrite(); err != nil {
		return false, err
	}
	r, err := u.record()
	if err := errors.Join(err, u.journal.Close()); err != nil {
		return false, err
	}
	here := r.heading.Upload == upload
	if upload != "" && !here {
		if err := s.Abort(ctx, name, upload); err != nil {
			return false, err
		}
	}
	if _, err := s.sweep(ctx, name, func(l Left) bool { return !here || l.Upload != upload }); err != nil && ctx.Err() == nil {
		s.options.Note(fmt.Sprintf("%s: an upload may remain; braid parts shows it: %v", s.Path(name), err))
	}
	info, err := u.head(ctx)
	return err == nil && info != nil && s.ours(info), err
}

// opened calls the function Opened of the lease, if any.
func (s *Store) opened(ctx context.Context, upload string) error {
	if s.lease == nil {
		return nil
	}
	return s.lease.Opened(ctx, upload)
}

// metadata returns the metadata for an object: the token of its upload, its job, its URL, and its SHA-256 if that is
// already known.
func (s *Store) metadata(h heading, claims []verify.Claim) map[string]string {
	m := map[string]string{"braid-upload": h.Token, "braid-url": inASCII(h.URL)}
	if s.lease != nil && s.lease.Job != "" {
		m["braid-job"] = s.lease.Job
	}
	for _, c := range claims {
		if c.Digest.Algorithm() == verify.SHA256 {
			m["braid-sha256"] = c.Digest.Hex()
		}
	}
	return m
}

// ours reports whether an attempt at the lease's Job created the object.
func (s *Store) ours(info *minio.ObjectInfo) bool {
	return s.lease != nil && s.lease.Job != "" && info.UserMetadata["Braid-Job"] == s.lease.Job
}
