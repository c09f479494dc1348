package mirrortest

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"regexp"
	"strings"
)

// The nonces of a Digest server. The second one replaces the first when that has become stale.
const (
	nonce      = "once"
	freshNonce = "more"
)

// Login accepts only this user. scheme is "Basic", "Digest", or "Stale", which is Digest with a first nonce that
// expires after one use.
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

// asks answers all requests with the challenge, except those for which but returns true.
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

// answerTo returns the response for a user who knows the password (RFC 7616, section 3.4.1).
func answerTo(r *http.Request, p map[string]string, user, password string) string {
	sum := func(words ...string) string {
		s := sha256.Sum256([]byte(strings.Join(words, ":")))
		return hex.EncodeToString(s[:])
	}
	return sum(sum(user, p["realm"], password), p["nonce"], p["nc"], p["cnonce"], p["qop"], sum(r.Method, r.URL.RequestURI()))
}
