package mirrortest

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"regexp"
	"strings"
)

// The nonces of a server that wants Digest: the second one is for those who come with the first after it has become too old.
const (
	nonce      = "once"
	freshNonce = "more"
)

// Login lets only this user in, by "Basic", by "Digest", or by "Stale", which is a Digest whose first nonce is not good any
// more when it is used a second time.
func Login(scheme, user, password string) Option {
	if scheme == "Basic" {
		knows := func(r *http.Request) bool {
			name, word, ok := r.BasicAuth()
			return ok && name == user && word == password
		}
		return asks(knows, `Basic realm="mirrors"`)
	}
	knows := func(r *http.Request) bool {
		p := digestFields(r)
		used := scheme == "Stale" && p["nonce"] == nonce && p["nc"] != "00000001"
		return !used && (p["nonce"] == nonce || p["nonce"] == freshNonce) && p["response"] == answerTo(r, p, user, password)
	}
	again := func(r *http.Request) bool { return scheme == "Stale" && digestFields(r)["nc"] > "00000001" }
	first := func(r *http.Request) bool { return knows(r) || again(r) }
	challenge := `Digest realm="mirrors", qop="auth", algorithm=SHA-256, nonce="` + nonce + `", Basic realm="mirrors"`
	return func(b *behaviour) {
		asks(first, challenge)(b)
		asks(func(r *http.Request) bool { return knows(r) || !again(r) }, strings.Replace(challenge, nonce+`"`, freshNonce+`", stale=true`, 1))(b)
	}
}

// asks makes all but these requests find out what the server wants.
func asks(but func(*http.Request) bool, challenge string) Option {
	return When(func(r *http.Request) bool { return !but(r) }, Status(http.StatusUnauthorized), Header("WWW-Authenticate", challenge))
}

var digestField = regexp.MustCompile(`([a-z]+)="?([^",]*)"?`)

func digestFields(r *http.Request) map[string]string {
	fields := map[string]string{}
	if rest, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Digest "); ok {
		for _, m := range digestField.FindAllStringSubmatch(rest, -1) {
			fields[m[1]] = m[2]
		}
	}
	return fields
}

// answerTo is what somebody answers who knows the password (RFC 7616, section 3.4.1).
func answerTo(r *http.Request, p map[string]string, user, password string) string {
	sum := func(words ...string) string {
		s := sha256.Sum256([]byte(strings.Join(words, ":")))
		return hex.EncodeToString(s[:])
	}
	return sum(sum(user, p["realm"], password), p["nonce"], p["nc"], p["cnonce"], p["qop"], sum(r.Method, r.URL.RequestURI()))
}
