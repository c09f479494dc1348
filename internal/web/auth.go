package web

import (
	"crypto/md5"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"strings"
)

// algorithm is a hash algorithm of Digest authentication.
type algorithm struct {
	name    string
	rank    int // higher is stronger
	session bool
	hash    func() hash.Hash
}

// algorithms maps the lower-case names of the algorithms of RFC 7616, section 6.1, to their implementations.
var algorithms = map[string]algorithm{
	"md5":              {"MD5", 2, false, md5.New},
	"md5-sess":         {"MD5-sess", 3, true, md5.New},
	"sha-256":          {"SHA-256", 4, false, sha256.New},
	"sha-256-sess":     {"SHA-256-sess", 5, true, sha256.New},
	"sha-512-256":      {"SHA-512-256", 6, false, sha512.New512_256},
	"sha-512-256-sess": {"SHA-512-256-sess", 7, true, sha512.New512_256},
}

func (a *algorithm) sum(words ...string) string {
	h := a.hash()
	io.WriteString(h, strings.Join(words, ":"))
	return hex.EncodeToString(h.Sum(nil))
}

// question holds the values of one request that determine its Authorization field.
type question struct {
	User, Password string
	Method, URI    string // as in the request line
	Nonce          string // random client nonce
	Count          uint32 // number of requests so far with the server's nonce, including this one
}

// answer returns the Authorization field for a request (RFC 7616, section 3.4).
func (c challenge) answer(q question) string {
	if c.algorithm == nil {
		return basic(q.User, q.Password)
	}
	h, realm, nonce := c.algorithm, c.params["realm"], c.params["nonce"]
	user := q.User
	hashed := strings.EqualFold(c.params["userhash"], "true")
	if hashed {
		user = h.sum(q.User, realm)
	}
	a1 := h.sum(q.User, realm, q.Password)
	if h.session {
		a1 = h.sum(a1, nonce, q.Nonce)
	}
	a2 := h.sum(q.Method, q.URI)
	count := fmt.Sprintf("%08x", q.Count)
	_, qop := c.params["qop"]
	response := h.sum(a1, nonce, a2) // RFC 2069, for servers that send no qop
	if qop {
		response = h.sum(a1, nonce, count, q.Nonce, "auth", a2)
	}
	return "Digest " + c.fields(user, q, response, count, qop, hashed)
}

// fields returns the parameters of a Digest answer. RFC 7616, section 3.4, defines which values are quoted, and servers
// check the quotes.
func (c challenge) fields(user string, q question, response, count string, qop, hashed bool) string {
	list := []string{userField(user)}
	add := func(name, value string) { list = append(list, name+"="+value) }
	add("realm", quote(c.params["realm"]))
	add("uri", quote(q.URI))
	if _, given := c.params["algorithm"]; given {
		add("algorithm", c.algorithm.name)
	}
	add("nonce", quote(c.params["nonce"]))
	if qop {
		add("nc", count)
	}
	if qop || c.algorithm.session {
		add("cnonce", quote(q.Nonce))
	}
	if qop {
		add("qop", "auth")
	}
	add("response", quote(response))
	if opaque, given := c.params["opaque"]; given {
		add("opaque", quote(opaque))
	}
	if hashed {
		add("userhash", "true")
	}
	return strings.Join(list, ", ")
}

// userField returns the user name parameter. A name with characters that a quoted string cannot contain is encoded as
// in RFC 8187.
func userField(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r >= 0x7f }) {
		return "username*=UTF-8''" + percent(name)
	}
	return "username=" + quote(name)
}

// percent encodes all bytes except attr-char (RFC 8187, section 3.2.1).
func percent(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || strings.IndexByte("!#$&+-.^_`|~", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}

func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
