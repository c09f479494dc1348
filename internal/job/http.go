package job

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"braid/address"
	"braid/download"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/internal/web"
	"braid/source/httpsource"
	"braid/verify"
)

// HTTP holds the options of requests to servers, and the digests that the user gave.
type HTTP struct {
	Header         option.WordsValue
	HeaderTo       option.WordsValue
	UserAgent      string
	ConnectTimeout option.TimeValue
	AllowDowngrade bool
	NoReferer      bool
	AllowHost      Hosts
	HostRate       option.NumberValue
	HostLimitRate  option.RateValue
	SHA256         string
	Checksum       option.WordsValue
	Checksums      string
	Proxies        Proxies
	Sites          *Sites   `option:"-"`
	Pace           HostPace // from HostRate and HostLimitRate
	Trust          Trust
	Referer        string
	Credentials
}

// Client returns the client for all requests. urls are URLs that the user typed.
func (w *HTTP) Client(urls ...string) (*httpsource.Client, error) {
	c := &httpsource.Client{
		UserAgent: w.UserAgent, ConnectTimeout: time.Duration(w.ConnectTimeout),
		AllowDowngrade: w.AllowDowngrade, NoReferer: w.NoReferer, AllowHosts: w.AllowHost.Typed(urls...),
	}
	w.Pace.Set(w.HostRate, int64(w.HostLimitRate))
	err := w.Sites.PaceHosts(c, &w.Pace)
	if err != nil {
		return c, err
	}
	if c.Cookies, err = w.jar(); err != nil {
		return c, err
	}
	if err := w.Trust.apply(c); err != nil {
		return c, err
	}
	if err := w.Proxies.Apply(c); err != nil {
		return c, err
	}
	return c, w.Sites.ConfigureClient(c)
}

// claims returns the digests in --sha256 and --checksum.
func (w *HTTP) claims() (claims []verify.Claim, err error) {
	if w.SHA256 != "" {
		d, err := ParseSHA256(w.SHA256)
		if err != nil {
			return nil, problem.Misuse("--sha256", err.Error(), "")
		}
		claims = append(claims, verify.Claim{Digest: d, Field: "--sha256", Channel: verify.User})
	}
	for _, word := range w.Checksum {
		d, err := ParseChecksum(word)
		more := []verify.Claim{{Digest: d, Field: "--checksum", Channel: verify.User}}
		if err == nil {
			err = verify.Agree(claims, more)
		}
		if err != nil {
			return nil, problem.Misuse("--checksum", err.Error(), "")
		}
		claims = append(claims, more...)
	}
	return claims, nil
}

// DigestOption returns the name of the flag that has the file's digest, or "" if neither is given.
func (w *HTTP) DigestOption() string {
	switch {
	case w.SHA256 != "":
		return "--sha256"
	case len(w.Checksum) > 0:
		return "--checksum"
	}
	return ""
}

var errChecksum = errors.New("write ALGORITHM=HEX, as in sha-256=9f86d0... with all 64 digits")

// ParseChecksum parses a digest in the form "sha-256=HEX", "sha256:HEX" or "sha256-BASE64" (Subresource Integrity).
func ParseChecksum(word string) (verify.Digest, error) {
	if d, ok, err := verify.ParseIntegrity(strings.TrimSpace(word)); ok {
		return d, err
	}
	i := strings.IndexAny(word, "=:")
	if i < 0 {
		return verify.Digest{}, errChecksum
	}
	algorithm, known := verify.ParseAlgorithm(strings.TrimSpace(word[:i]))
	if !known {
		return verify.Digest{}, errChecksum
	}
	return verify.ParseHex(algorithm, strings.TrimSpace(word[i+1:]))
}

// ParseSHA256 parses a SHA-256 digest in hexadecimal. The name of the algorithm may precede it.
func ParseSHA256(word string) (verify.Digest, error) {
	if d, err := ParseChecksum(word); err == nil && d.Algorithm() == verify.SHA256 {
		return d, nil
	}
	return verify.ParseHex(verify.SHA256, strings.TrimSpace(word))
}

func (w *HTTP) headers() (map[string][]string, error) {
	h := http.Header{}
	if w.Referer != "" {
		h.Set("Referer", w.Referer)
	}
	for _, line := range w.Header {
		if err := AddField(h, line); err != nil {
			f := problem.Of(err)
			return nil, problem.Misuse(strings.TrimSpace("-H "+f.Where), f.Why, f.Hint)
		}
	}
	return h, nil
}

func (w *HTTP) headersTo() (servers []string, err error) {
	for _, words := range w.HeaderTo {
		for word := range strings.SplitSeq(words, ",") {
			server, err := serverName(strings.TrimSpace(word))
			if err != nil {
				return nil, problem.Misuse("--header-to "+word, err.Error(), "")
			}
			servers = append(servers, address.URL(&url.URL{Host: server}).Host)
		}
	}
	return servers, nil
}

// AddFields adds to r the user's header fields, and the servers that may receive them.
func (w *HTTP) AddFields(r *download.Request) (err error) {
	if r.Access.Header, err = w.headers(); err != nil {
		return err
	}
	r.Access.HeaderTo, err = w.headersTo()
	return err
}

// AddEvidence adds to r the user's digests and header fields, and the keys and certificates in trusted.
func (w *HTTP) AddEvidence(r *download.Request, trusted *Anchors) (err error) {
	if r.Trust.Claims, err = w.claims(); err != nil {
		return err
	}
	if err = w.AddFields(r); err != nil {
		return err
	}
	r.Trust.Anchors, err = trusted.Load()
	return err
}

// AddField adds to h the header field in line, which has the form "NAME: VALUE".
func AddField(h http.Header, line string) error {
	name, value, ok := strings.Cut(line, ":")
	name, value = http.CanonicalHeaderKey(strings.TrimSpace(name)), strings.TrimSpace(value)
	switch {
	case !ok || !IsToken(name):
		return problem.Misuse("", "is not a header field", "write 'NAME: VALUE'")
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
		return problem.Misuse(name, "the value has a control character", "")
	case web.Reserved(name):
		return problem.Misuse(name, "braid sets this field itself", "")
	}
	h.Add(name, value)
	return nil
}

// IsToken reports whether s is a token (RFC 9110, section 5.6.2).
func IsToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

var errNoPassword = errors.New("no password")

func userinfo(v string) (*url.Userinfo, error) {
	name, password, ok := strings.Cut(v, ":")
	if !ok || name == "" {
		return nil, errNoPassword
	}
	return url.UserPassword(name, password), nil
}
