package web

import (
	"crypto/rand"
	"net/http"
	"sync"

	"braid/address"
)

// logins stores the last challenge of each account, so that most requests need no new challenge. The zero value is
// empty.
type logins struct {
	mu    sync.Mutex
	known map[account]*login
}

// account is a user at an exact origin (rule 27).
type account struct{ scheme, host, user string }

// login is the last challenge of a server. The zero value means Basic.
type login struct {
	challenge challenge
	count     uint32 // requests with the nonce of the challenge
}

// ask counts a request of an account, and returns its login and the count. The login is nil if the server has not sent
// a challenge.
func (l *logins) ask(a account) (*login, uint32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.known[a]
	if known == nil {
		return nil, 0
	}
	known.count++
	return known, known.count
}

func (l *logins) learn(a account, c challenge) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known == nil {
		l.known = map[account]*login{}
	}
	l.known[a] = &login{challenge: c}
}

// mostChallenges is the maximum number of challenges that are answered for one request. A second challenge may be
// needed if the stored nonce is too old.
const mostChallenges = 2

// authorize sets the Authorization field. Over https it sends Basic credentials immediately. Over http it waits for the
// server's challenge, because the password must not be sent in clear to a server that supports Digest (RFC 7616,
// section 5.6).
func (c *Client) authorize(r *Request) *login {
	user := r.User.User
	if r.Away || user == nil || r.Header.Get("Authorization") != "" {
		return nil
	}
	password, _ := user.Password()
	known, count := c.logins.ask(r.account())
	switch {
	case known != nil:
		r.Header.Set("Authorization", known.challenge.answer(question{
			User: user.Username(), Password: password, Method: r.Method, URI: r.URL.RequestURI(), Nonce: rand.Text(),
			Count: count,
		}))
		return known
	case c.Proven(r.URL):
		r.Header.Set("Authorization", basic(user.Username(), password))
		return &login{}
	}
	return nil
}

func (r *Request) account() account {
	return account{r.URL.Scheme, address.HostPort(r.URL), r.User.User.Username()}
}

// Challenged reports whether the server asks for credentials and the request should be repeated with them. That is the
// case if the request had no credentials, used another scheme or had a stale nonce. before is the number of times that
// the request was already repeated.
func (c *Client) Challenged(r *Request, x *Exchange, before int) bool {
	if _, own := r.User.field("Authorization"); x.StatusCode != http.StatusUnauthorized || r.Away ||
		r.User.User == nil || own || before >= mostChallenges {
		return false
	}
	best, ok := choose(x.Header.Values("WWW-Authenticate"))
	switch {
	case !ok:
		return false
	case x.said == nil: // the request had no credentials
	case !best.isDigest(): // the password is wrong
		return false
	case x.said.challenge.isDigest() && !best.stale() && before > 0: // the previous answer was rejected
		return false
	}
	c.logins.learn(r.account(), best)
	return true
}
