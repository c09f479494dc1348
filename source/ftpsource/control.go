package ftpsource

import (
	"bufio"
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"braid/address"
	"braid/internal/web"
)

// A control is a control connection. One goroutine uses it at a time.
type control struct {
	account account
	client  *Client
	conn    net.Conn      // for commands; over TLS after AUTH
	lines   *bufio.Reader // reads replies
	tls     *tls.Config   // also for data connections; nil without TLS
	peer    netip.Addr
	proxied bool // peer is a proxy
	rtt     time.Duration
	reused  bool
	resumes bool // the server supports REST
	asked   bool // resumes is known
	older   bool // the server supports only PASV
	timer   *time.Timer
}

// open connects and logs in. l closes the connection once ctx is done.
func (c *Client) open(ctx context.Context, l *leash, a account, p address.Policy) (*control, error) {
	conn, rtt, proxied, err := c.connect(ctx, a, a.host, p)
	if err != nil {
		return nil, err
	}
	l.hold(conn)
	k := &control{
		account: a, client: c, conn: conn, lines: newLines(conn), rtt: rtt,
		peer: conn.RemoteAddr().(*net.TCPAddr).AddrPort().Addr(), proxied: proxied,
	}
	if err := k.begin(ctx); err != nil {
		k.conn.Close()
		return nil, err
	}
	return k, nil
}

func (k *control) begin(ctx context.Context) error {
	if err := k.greeted(); err != nil {
		return err
	}
	if k.account.scheme == "ftps" {
		if err := k.secure(ctx); err != nil {
			return err
		}
	}
	if err := k.login(); err != nil {
		return err
	}
	if features, err := k.ask("FEAT"); err != nil {
		return err
	} else if features.kind() == 2 {
		k.asked = features.has("REST STREAM")
		k.resumes = k.asked
	}
	if _, err := k.want(2, "TYPE", "I"); err != nil {
		return err
	}
	if k.tls == nil {
		return nil
	}
	// RFC 4217, section 9: without PBSZ and PROT, data is not encrypted.
	if _, err := k.want(2, "PBSZ", "0"); err != nil {
		return err
	}
	_, err := k.want(2, "PROT", "P")
	return err
}

// greeted waits until the server is ready. The server may first announce a delay with code 120 (RFC 959, section 5.4:
// "Expected delay"), but the whole wait is limited to the time for one reply.
func (k *control) greeted() error {
	for delays, until := 0, time.Now().Add(k.client.timeout()); ; delays++ {
		hello, err := k.read(time.Until(until))
		switch {
		case err != nil:
			return err
		case delays == maxLines:
			return errManyLines
		case hello.kind() == 2:
			return nil
		case hello.code != 120:
			return k.refused("greeting", hello)
		}
	}
}

// secure begins TLS (RFC 4217, section 4). It returns an error if the server sent more than its reply before TLS,
// because an attacker may have added that.
func (k *control) secure(ctx context.Context) error {
	if _, err := k.want(2, "AUTH", "TLS"); err != nil {
		return err
	}
	if k.lines.Buffered() > 0 {
		return errUnasked
	}
	config := k.client.tlsFor(k.account).Clone()
	if config == nil {
		config = &tls.Config{}
	}
	if config.ServerName == "" {
		config.ServerName = k.account.name
	}
	if !k.account.known {
		config.Certificates, config.GetClientCertificate = nil, nil
	}
	// Servers check by session resumption that a data connection belongs to this control connection.
	config.ClientSessionCache = tls.NewLRUClientSessionCache(1)
	k.tls = config
	secured, err := k.handshake(ctx, k.conn)
	if err != nil {
		return err
	}
	k.conn, k.lines = secured, newLines(secured)
	return nil
}

// handshake begins TLS on conn, a connection to the server.
func (k *control) handshake(ctx context.Context, conn net.Conn) (*tls.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, k.client.connectTimeout())
	defer cancel()
	conn.SetDeadline(time.Time{})
	secured := tls.Client(conn, k.tls)
	if err := secured.HandshakeContext(ctx); err != nil {
		return nil, &web.HandshakeError{Err: err}
	}
	return secured, nil
}

// login logs in. Servers that need no password accept USER alone.
func (k *control) login() error {
	p, err := k.ask("USER", k.account.user)
	if err == nil && p.code == 331 {
		p, err = k.ask("PASS", k.account.password)
	}
	if err == nil && p.kind() != 2 {
		err = &loginError{k.refused("login", p)}
	}
	return err
}

// A loginError reports that the server refused the login.
type loginError struct{ said *Error }

func (e *loginError) Error() string { return e.said.Error() }

// ask sends words, a command, and reads the reply.
func (k *control) ask(words ...string) (reply, error) {
	if k.lines.Buffered() > 0 {
		return reply{}, errUnasked
	}
	k.conn.SetWriteDeadline(time.Now().Add(k.client.timeout()))
	if _, err := k.conn.Write([]byte(strings.Join(words, " ") + "\r\n")); err != nil {
		return reply{}, err
	}
	return k.read(k.client.timeout())
}

// read reads a reply, which must be complete within the given time.
func (k *control) read(within time.Duration) (reply, error) {
	k.conn.SetReadDeadline(time.Now().Add(within))
	p, err := readReply(k.lines)
	if err == nil && p.code == 421 { // in reply to any command: the server closes the connection
		return p, k.refused("server", p)
	}
	return p, err
}

// want is like ask, but returns an error if the first digit of the reply is not kind.
func (k *control) want(kind int, words ...string) (reply, error) {
	p, err := k.ask(words...)
	if err == nil && p.kind() != kind {
		err = k.refused(words[0], p)
	}
	return p, err
}

// refused returns the error for p. It masks secrets, because servers repeat commands in replies (rule 62).
func (k *control) refused(command string, p reply) *Error {
	const most = 120
	text := p.text()
	if !k.account.anonymous() {
		for _, secret := range []string{k.account.password, k.account.user} {
			if secret != "" {
				text = strings.ReplaceAll(text, secret, "***")
			}
		}
	}
	if len(text) > most {
		text = text[:most] + "..."
	}
	return &Error{Command: command, Code: p.code, Text: text}
}

// restarts reports whether the server supports starting at an offset (RFC 3659, section 5). If FEAT did not list it, a
// REST command tests it.
func (k *control) restarts(at int64) (bool, error) {
	if k.asked {
		return k.resumes, nil
	}
	p, err := k.ask("REST", strconv.FormatInt(at, 10))
	if err != nil {
		return false, err
	}
	k.asked, k.resumes = true, p.kind() == 3
	return k.resumes, nil
}

// passive requests a port for a data connection. PASV, which supports only IPv4, is for servers without EPSV.
func (k *control) passive() (port int, err error) {
	if v4 := k.peer.Unmap().Is4(); !k.older || !v4 {
		p, err := k.ask("EPSV")
		if err != nil {
			return 0, err
		}
		if p.code == 229 {
			return p.extendedPort()
		}
		if p.kind() != 5 || !v4 {
			return 0, k.refused("EPSV", p)
		}
		k.older = true
	}
	p, err := k.ask("PASV")
	if err != nil {
		return 0, err
	}
	if p.code != 227 {
		return 0, k.refused("PASV", p)
	}
	return p.passivePort()
}

// quit closes a connection that is no longer needed. It does not wait for the reply to QUIT.
func (k *control) quit() {
	k.conn.SetDeadline(time.Now().Add(defaultCloseTimeout))
	k.conn.Write([]byte("QUIT\r\n")) // an error makes no difference: the connection is closed
	k.conn.Close()
}
