// Package objectstore makes objects the target of downloads: [Store] is a [download.Store] on a bucket of Amazon's
// store, or of one that speaks its protocol.
//
// A file goes into a multipart upload while it is fetched. Nothing is visible before Complete, which is asked for with
// a proof of the whole file only, and with If-None-Match: * or the If-Match of the object that is replaced. A journal
// keeps for each uploaded part what another process needs to go on with the upload, as uploaded bytes cannot be read
// back.
//
// It refuses to be a client for everything that a store can do: buckets, policies and versions are for other programs.
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
	"braid/verify"
)

// Options are what a Store does beside what the environment says.
type Options struct {
	// Folder has the journals of uploads, and what was found out about stores. If empty, nothing is kept: a killed
	// upload begins anew.
	Folder string
	// Note is called with what a user should know although nothing failed, by any goroutine. It may be nil.
	Note func(text string)
	// Timeout is how long the store may be silent. If zero, a minute.
	Timeout time.Duration
	// UserAgent is added to that of the library: "braid/1.0".
	UserAgent string
	// Getenv reads the environment. If nil, os.Getenv.
	Getenv func(name string) string
}

// A Lease is the right to a download that several processes may have, one after the other.
type Lease struct {
	// Job names the download. It stands in the metadata of the object, so that a later try knows what an earlier one has made.
	Job string
	// Opened is called with the id of an upload before a part is sent: the process that has the lease next ends that
	// upload. An error ends the download.
	Opened func(ctx context.Context, upload string) error
	// Confirm is called right before an object is made. An error ends the download, and no object is made.
	Confirm func(ctx context.Context) error
}

// A Store is a bucket, and a prefix that the names of files get.
type Store struct {
	options  Options
	lease    *Lease // nil: there is none
	core     *minio.Core
	access   *credentials.Credentials
	endpoint string
	bucket   string
	prefix   string
	probed   *conditions
	swept    *sync.Once   // sweepAbandoned
	there    *atomic.Bool // the bucket is
}

// IsURL reports whether a word names a place in an object store.
func IsURL(word string) bool { return strings.HasPrefix(word, "s3://") }

// split reads s3://bucket/key. The key may be empty. The error says what is wrong.
func split(word string) (bucket, key string, err error) {
	u, err := url.Parse(word)
	switch {
	case !IsURL(word) || err != nil:
		return "", "", errors.New("write s3://BUCKET/PREFIX/")
	case u.User != nil:
		return "", "", errors.New("credentials have no place in it: they are read from the environment and ~/.aws/credentials")
	case u.Host == "" || u.Port() != "":
		return "", "", errors.New("s3:// is followed by the name of a bucket")
	}
	key = strings.TrimPrefix(strings.TrimPrefix(word, "s3://"), u.Host)
	key = strings.TrimPrefix(key, "/")
	if key != "" && !validKey(strings.TrimSuffix(key, "/")) {
		return "", "", errKey
	}
	return u.Host, key, nil
}

var errKey = errors.New("no key: an empty part, . or .. is in it, a control character, or more than 1024 bytes")

// validKey reports whether a key means the same to all programs on the way, and in a folder.
func validKey(key string) bool {
	for part := range strings.SplitSeq(key, "/") {
		if part == "" || part == "." || part == ".." {
			return false
		}
	}
	return len(key) <= 1024 && utf8.ValidString(key) && !strings.ContainsFunc(key, unicode.IsControl)
}

// Open prepares a store for files below s3://bucket/prefix/. Endpoint, region, credentials and the way to name buckets
// are read where other programs read them: AWS_* in the environment, and the files in ~/.aws. Nothing is asked of the
// store yet. The error is a *download.Error.
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

// connect makes the client.
func (s *Store) connect(c config) error {
	transport, err := s.transport(c)
	if err != nil {
		return err
	}
	s.access = c.credentials
	s.endpoint = c.endpoint.Scheme + "://" + c.endpoint.Host
	s.core, err = minio.NewCore(c.endpoint.Host, &minio.Options{
		Creds: c.credentials, Secure: c.endpoint.Scheme == "https", Transport: bounded{transport}, Region: c.region, BucketLookup: c.lookup, MaxRetries: tries,
	})
	if err == nil && s.options.UserAgent != "" {
		name, version, _ := strings.Cut(s.options.UserAgent, "/")
		s.core.SetAppInfo(name, version)
	}
	return err
}

// tries is how often a request is made that fails in a way that may pass.
const tries = 10

func (s *Store) transport(c config) (*http.Transport, error) {
	dialer := &net.Dialer{Timeout: 20 * time.Second, KeepAlive: 15 * time.Second}
	t := &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSHandshakeTimeout: 20 * time.Second, ResponseHeaderTimeout: s.options.Timeout,
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

// A patientConn fails when nothing moves for some time.
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

// Upload implements download.Store.
func (s *Store) Upload(name string) download.Upload { return newUpload(s, s.prefix+name) }

// Existing is the object of a name. Without such an object the error is fs.ErrNotExist; see download.Upload.
func (s *Store) Existing(ctx context.Context, name string) (*download.Existing, error) {
	return newUpload(s, s.prefix+name).Existing(ctx)
}

// Leased is the store for a download with a lease. Another process of this machine that works at the same object is no
// error: it has the lease no more. It keeps its journal, and the download has none.
func (s *Store) Leased(l Lease) *Store {
	own := *s
	own.lease = &l
	return &own
}

// Abort ends the upload of a name that has an id: its Complete will fail. An upload that is not there is no error.
// Without a lease it is an error if a process of this machine works at the object.
func (s *Store) Abort(ctx context.Context, name, upload string) error {
	return s.end(ctx, Left{Key: s.prefix + name, Upload: upload})
}

// TakeOver ends the uploads of a name, as Abort does: the one with the id that an earlier try stored, if it did, and
// all others, as a try may have been killed before it stored its own. The upload of that id stays if its journal is
// here and no other process has it open: this process can go on with it. TakeOver reports whether an earlier try of the
// lease's Job has made the object.
func (s *Store) TakeOver(ctx context.Context, name, upload string) (made bool, err error) {
	u := newUpload(s, s.prefix+name)
	if err := u.openToWrite(); err != nil {
		return false, err
	}
	r, err := readRecord(u.journal)
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
		s.options.Note(fmt.Sprintf("%s: an upload may be left; braid parts shows it: %v", s.Path(name), err))
	}
	info, err := u.head(ctx)
	return err == nil && info != nil && s.ours(info), err
}

// opened has the lease, if there is one, store the id of its upload.
func (s *Store) opened(ctx context.Context, upload string) error {
	if s.lease == nil {
		return nil
	}
	return s.lease.Opened(ctx, upload)
}

// metadata is what is stored with an object: the token of its upload, its job, the URL that it is from and, if that is
// known by then, its digest.
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

// ours reports whether an object was made by a download with the same lease.
func (s *Store) ours(info *minio.ObjectInfo) bool {
	return s.lease != nil && s.lease.Job != "" && info.UserMetadata["Braid-Job"] == s.lease.Job
}
