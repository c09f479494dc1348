package web

import (
	"crypto/rand"
	"net/http"
	"sync"

	"braid/address"
)

// logins remember what servers want to know of a client, so that they say it once. The zero value knows nothing.
type logins struct {
	mu    sync.Mutex
	known map[account]*login
}

// An account is a user at an exact origin (rule 27).
type account struct{ scheme, host, user string }

// A login is what a server said last. The zero value is Basic.
type login struct {
	challenge challenge
	count     uint32 // requests with the nonce of the challenge
}

// ask counts a request of an account. It is nil if the server has not asked for a login.
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

// mostChallenges of one request are answered: a nonce that is remembered may be too old.
const mostChallenges = 2

// authorize says who we are. Over https a server is told at once, by Basic; over http it is asked first what it wants, as the
// password must not go in clear to one that can do with a Digest (RFC 7616, section 5.6).
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
			User: user.Username(), Password: password, Method: r.Method, URI: r.URL.RequestURI(), Nonce: rand.Text(), Count: count,
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

// Challenged reports whether the server wants a name and a password, and it is worth telling it by the same request
// once more: it was not told yet, not in that way, or with a nonce that is too old. Before is how often the request was
// sent again for that already.
func (c *Client) Challenged(r *Request, x *Exchange, before int) bool {
	if _, own := r.User.field("Authorization"); x.StatusCode != http.StatusUnauthorized || r.Away || r.User.User == nil || own || before >= mostChallenges {
		return false
	}
	best, ok := choose(x.Header.Values("WWW-Authenticate"))
	switch {
	case !ok:
		return false
	case x.said == nil: // it was told nothing
	case !best.isDigest(): // the password was not the right one
		return false
	case x.said.challenge.isDigest() && !best.stale() && before > 0: // it was told what it had asked for just before
		return false
	}
	c.logins.learn(r.account(), best)
	return true
}
