package httpsource

import (
	"crypto/rand"
	"net/http"
	"sync"

	"braid/internal/web"
	"braid/source"
)

// logins remember what servers want to know of who asks, so that they say it once. The zero value knows nothing.
type logins struct {
	mu    sync.Mutex
	known map[account]*login
}

// An account is a user at an exact origin (rule 27).
type account struct{ scheme, host, user string }

// A login is what a server said last.
type login struct {
	challenge web.Challenge
	count     uint32 // requests with the nonce of the challenge
}

// ask counts a request of an account. It is nil where nobody has asked who we are.
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

func (l *logins) learn(a account, c web.Challenge) {
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
func (c *chain) authorize(h http.Header) {
	c.said = nil
	if !c.own() || c.s.user == nil || h.Get("Authorization") != "" {
		return
	}
	password, _ := c.s.user.Password()
	known, count := c.s.client.logins.ask(c.account())
	switch {
	case known != nil:
		h.Set("Authorization", known.challenge.Answer(web.Question{
			User: c.s.user.Username(), Password: password, Method: c.method, URI: c.url.RequestURI(), Nonce: rand.Text(), Count: count,
		}))
		c.said = known
	case c.s.client.proven(c.url):
		h.Set("Authorization", web.Basic(c.s.user.Username(), password))
		c.said = &login{}
	}
}

func (c *chain) account() account {
	return account{c.url.Scheme, source.HostPort(c.url), c.s.user.Username()}
}

// challenged says that the server wants to know who asks, and that it is worth telling it: it was not told yet, not in that way,
// or with a nonce that is too old.
func (c *chain) challenged(x *exchange) bool {
	if x.resp.StatusCode != http.StatusUnauthorized || !c.own() || c.s.user == nil || c.userAuthorizes() || c.challenges >= mostChallenges {
		return false
	}
	best, ok := web.Choose(x.resp.Header.Values("WWW-Authenticate"))
	switch {
	case !ok:
		return false
	case c.said == nil: // it was told nothing
	case !best.IsDigest(): // the password was not the right one
		return false
	case c.said.challenge.IsDigest() && !best.Stale() && c.challenges > 0: // it was told what it had asked for just before
		return false
	}
	c.challenges++
	c.s.client.logins.learn(c.account(), best)
	return true
}
