package cli

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
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

type httpFlags struct {
	Header         option.WordsValue
	HeaderTo       option.WordsValue
	UserAgent      string
	ConnectTimeout duration
	AllowDowngrade bool
	NoReferer      bool
	AllowHost      hosts
	HostRate       number
	HostLimitRate  rate
	SHA256         string
	Checksum       option.WordsValue
	Checksums      string
	Proxies        proxyFlags
	sites          *sites
	pace           hostPace // of HostRate and HostLimitRate
	Trust          trustFlags
	Referer        string
	credentialFlags
}

// client is what makes the requests. The user typed these URLs.
func (w *httpFlags) client(urls ...string) (*httpsource.Client, error) {
	c := &httpsource.Client{
		UserAgent: w.UserAgent, ConnectTimeout: time.Duration(w.ConnectTimeout),
		AllowDowngrade: w.AllowDowngrade, NoReferer: w.NoReferer, AllowHosts: w.AllowHost.typed(urls...),
	}
	w.pace.set(w.HostRate, int64(w.HostLimitRate))
	err := w.sites.paceHosts(c, &w.pace)
	if err != nil {
		return c, err
	}
	if c.Cookies, err = w.jar(); err != nil {
		return c, err
	}
	if err := w.Trust.apply(c); err != nil {
		return c, err
	}
	if err := w.Proxies.apply(c); err != nil {
		return c, err
	}
	return c, w.sites.configureClient(c)
}

// claims is what the user says that the file is.
func (w *httpFlags) claims() (claims []verify.Claim, err error) {
	if w.SHA256 != "" {
		d, err := parseSHA256(w.SHA256)
		if err != nil {
			return nil, problem.Misuse("--sha256", err.Error(), "")
		}
		claims = append(claims, verify.Claim{Digest: d, Field: "--sha256", Channel: verify.User})
	}
	for _, word := range w.Checksum {
		d, err := parseChecksum(word)
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

// digested returns the flag that names a digest, which is that of one file.
func (w *httpFlags) digested() string {
	switch {
	case w.SHA256 != "":
		return "--sha256"
	case len(w.Checksum) > 0:
		return "--checksum"
	}
	return ""
}

// claimsOfURL adds to claims the digests that a URL names which the user typed. Where documents are followed, that of a
// document is not the file's.
func claimsOfURL(word string, has []verify.Claim, follows bool) ([]verify.Claim, error) {
	u, err := url.Parse(verify.WellKnownURL(word))
	if err != nil { // whoever reads it says so
		return has, nil
	}
	digests, err := verify.OfURL(u)
	var more []verify.Claim
	for _, d := range digests {
		more = append(more, verify.Claim{Digest: d, Field: "the URL", Channel: verify.User})
	}
	if err == nil {
		err = verify.Agree(has, more)
	}
	switch {
	case err != nil:
		return has, problem.Misuse(maskWord(word), err.Error(), "")
	case len(more) > 0 && follows && download.IsDocument(u.Path):
		return has, problem.Misuse(maskWord(word), "a digest of a document",
			"--sha256 gives that of the file which the document describes")
	}
	return append(slices.Clip(has), more...), nil
}

var errChecksum = errors.New("write ALGORITHM=HEX, as in sha-256=9f86d0... with all 64 digits")

// parseChecksum reads "sha-256=HEX", also as "sha256:HEX", or "sha256-BASE64" as Subresource Integrity has it.
func parseChecksum(word string) (verify.Digest, error) {
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

// parseSHA256 reads HEX, also with the name of the algorithm before it.
func parseSHA256(word string) (verify.Digest, error) {
	if d, err := parseChecksum(word); err == nil && d.Algorithm() == verify.SHA256 {
		return d, nil
	}
	return verify.ParseHex(verify.SHA256, strings.TrimSpace(word))
}

func (w *httpFlags) headers() (map[string][]string, error) {
	h := http.Header{}
	if w.Referer != "" {
		h.Set("Referer", w.Referer)
	}
	for _, line := range w.Header {
		if err := addField(h, line); err != nil {
			f := problem.Of(err)
			return nil, problem.Misuse(strings.TrimSpace("-H "+f.Where), f.Why, f.Hint)
		}
	}
	return h, nil
}

func (w *httpFlags) headersTo() (servers []string, err error) {
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

func (w *httpFlags) addFields(r *download.Request) (err error) {
	if r.Header, err = w.headers(); err != nil {
		return err
	}
	r.HeaderTo, err = w.headersTo()
	return err
}

// addEvidence adds to a request what the user says of the file: digests, keys and certificates, and the header fields.
func (w *httpFlags) addEvidence(r *download.Request, trusted *anchorFlags) (err error) {
	if r.Claims, err = w.claims(); err != nil {
		return err
	}
	if err = w.addFields(r); err != nil {
		return err
	}
	r.Anchors, err = trusted.anchors()
	return err
}

// addField adds the field of a line "Name: value" to h.
func addField(h http.Header, line string) error {
	name, value, ok := strings.Cut(line, ":")
	name, value = http.CanonicalHeaderKey(strings.TrimSpace(name)), strings.TrimSpace(value)
	switch {
	case !ok || !isToken(name):
		return problem.Misuse("", "not a header field", "write 'NAME: VALUE'")
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
		return problem.Misuse(name, "control character in the value", "")
	case web.Reserved(name):
		return problem.Misuse(name, "braid sets this field itself", "")
	}
	h.Add(name, value)
	return nil
}

// isToken follows RFC 9110, section 5.6.2.
func isToken(s string) bool {
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

var (
	errScheme = errors.New("not an " + address.ListSchemes() + " URL")
	errWeb    = errors.New("not an http or https URL")
	errNoHost = errors.New("a URL without a host")
	errPort   = errors.New("there is no such port; they end at 65535")
	errNoPort = errors.New("what follows the last : is no port; in a password / ? # : @ are written %2F %3F %23 %3A %40")
	errEmpty  = errors.New("the URL is empty")
	errTwo    = errors.New("two URLs with a space between them; in a list (-i) it is a tab before a mirror, and a line for each file")
	errSpaces = errors.New("a space at its beginning or end")
)

// webURL reads the URL of a web server that the user typed.
func webURL(word string) (*url.URL, error) {
	return readURL(word, errWeb, func(u *url.URL) bool { return u.Scheme == "http" || u.Scheme == "https" })
}

// placeURL reads the URL of a file that the user typed, at a web or an FTP server.
func placeURL(word string) (*url.URL, error) {
	word = verify.WellKnownURL(word)
	u, err := readURL(word, errScheme, address.HasScheme)
	if err == nil {
		if wrong := download.CheckURL(u); wrong != nil { // rule 58
			return nil, problem.Misuse(maskWord(word), wrong.Error(), "")
		}
	}
	return u, err
}

// readURL reads a URL that the user typed; wrong is what to say of schemes that are none of those meant.
func readURL(word string, wrong error, meant func(*url.URL) bool) (*url.URL, error) {
	if looksLikeHost(word) { // before url.Parse, which takes the host of host:port/path for a scheme
		return nil, problem.Misuse(maskWord(word), wrong.Error(), "https://"+maskWord(word)+"?")
	}
	u, err := url.Parse(word)
	switch {
	case word == "":
		err = errEmpty
	case strings.TrimSpace(word) != word:
		err = errSpaces
	case strings.Contains(word, " http://") || strings.Contains(word, " https://") || strings.Contains(word, " ftp://"):
		err = errTwo
	case err != nil:
		err = plainly(err, wrong)
	case !meant(u):
		err = wrong
	case u.Hostname() == "":
		err = errNoHost
	case u.Port() != "":
		if _, e := strconv.ParseUint(u.Port(), 10, 16); e != nil {
			err = errPort
		}
	}
	if err == errNoHost {
		return nil, problem.Misuse(maskWord(word), err.Error(), u.Scheme+"://HOST/FILE")
	}
	if err != nil {
		return nil, problem.Misuse(maskWord(word), err.Error(), "")
	}
	u.Fragment, u.RawFragment = "", ""
	return address.URL(u), nil
}

// plainly is what package url does not like about a URL; wrong is for what has no scheme. It is without the URL and its
// port, which may be part of a password.
func plainly(err, wrong error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	switch why := err.Error(); {
	case strings.HasPrefix(why, "invalid port"):
		return errNoPort
	case strings.HasPrefix(why, "first path segment"), strings.HasPrefix(why, "missing protocol scheme"):
		return wrong
	}
	return errors.New(strings.TrimPrefix(err.Error(), "net/url: "))
}

// looksLikeHost tells an address without its scheme, as browsers take it.
func looksLikeHost(word string) bool {
	host, _, _ := strings.Cut(word, "/")
	return strings.Contains(host, ".") && !strings.HasPrefix(host, ".") && !strings.ContainsAny(host, " @?#\\") &&
		!strings.Contains(word, "://")
}
