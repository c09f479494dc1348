package ftptest

import (
	"crypto/tls"
	"time"
)

// An Option makes a server misbehave, or behave in some special way. Of options that contradict each other the last one
// holds.
type Option func(*behaviour)

// A behaviour is what a server does.
type behaviour struct {
	name           string
	content        Content
	tls            *tls.Config
	user, password string
	open           bool
	modified       time.Time

	ipv6 bool

	replies map[string]string // by command; "" is no reply
	endless map[string]string // by command: lines without an end
	late    string            // what is said of a transfer when the next command has come
	host    string            // of PASV and EPSV
	size    int64             // -1: the right one
	noRest  bool              // it says yes to REST and begins at 0
	early   bool              // 226 comes before the data

	corrupt           []int64
	longer            int64
	end, reset, stall int64 // -1: not
	rate              int64 // bytes a second; 0: no limit
	noNotify          bool
	noHandshake       bool
}

func defaults() behaviour {
	return behaviour{
		name: "file.bin", host: "127,0,0,1", replies: map[string]string{}, endless: map[string]string{},
		size: -1, end: -1, reset: -1, stall: -1, modified: time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC),
	}
}

// Name is the path of the file. If not given, it is "file.bin".
func Name(path string) Option { return func(b *behaviour) { b.name = path } }

// Holds is another file than the one that New was given.
func Holds(content Content) Option { return func(b *behaviour) { b.content = content } }

// TLS makes a server that knows AUTH TLS, and its URL one of ftps.
func TLS(config *tls.Config) Option { return func(b *behaviour) { b.tls = config } }

// User lets only this user in.
func User(name, password string) Option {
	return func(b *behaviour) { b.user, b.password = name, password }
}

// NoPassword lets the user in without one.
func NoPassword() Option { return func(b *behaviour) { b.open = true } }

// Reply answers a command, or "greeting", or "226" after the data, with these bytes and nothing else. An empty reply is
// silence.
func Reply(command, bytes string) Option { return func(b *behaviour) { b.replies[command] = bytes } }

// Endless answers a command, or "greeting", or "226" after the data, with these bytes again and again until the client
// has left.
func Endless(command, bytes string) Option {
	return func(b *behaviour) { b.endless[command] = bytes }
}

// Afterthought says one thing more about a transfer, which the client finds before the reply to its next command.
func Afterthought(bytes string) Option { return func(b *behaviour) { b.late = bytes } }

// Early226 says that the transfer is complete before it begins to send.
func Early226() Option { return func(b *behaviour) { b.early = true } }

// IPv6 listens on [::1]. It has to be given to New.
func IPv6() Option { return func(b *behaviour) { b.ipv6 = true } }

// Modified is the time of MDTM. If not given, it is noon of 1 May 2024.
func Modified(t time.Time) Option { return func(b *behaviour) { b.modified = t } }

// PassiveHost is the address that PASV and EPSV name, as PASV writes it: "10,0,0,1".
func PassiveHost(host string) Option { return func(b *behaviour) { b.host = host } }

// Size is the size that the server names.
func Size(n int64) Option { return func(b *behaviour) { b.size = n } }

// IgnoreRest begins at 0 after all.
func IgnoreRest() Option { return func(b *behaviour) { b.noRest = true } }

// Corrupt changes the bytes at these offsets.
func Corrupt(offsets ...int64) Option {
	return func(b *behaviour) { b.corrupt = append(b.corrupt, offsets...) }
}

// Longer sends so many bytes after the file.
func Longer(n int64) Option { return func(b *behaviour) { b.longer = n } }

// EndAfter ends transfers at this offset as if the file ended there, with a 226; -1: not.
func EndAfter(off int64) Option { return func(b *behaviour) { b.end = off } }

// ResetAfter resets data and control connection at this offset; -1: not.
func ResetAfter(off int64) Option { return func(b *behaviour) { b.reset = off } }

// StallAfter sends nothing more from this offset on, and keeps the connections; -1: not.
func StallAfter(off int64) Option { return func(b *behaviour) { b.stall = off } }

// Rate sends so many bytes a second.
func Rate(n int64) Option { return func(b *behaviour) { b.rate = n } }

// NoCloseNotify ends TLS of data without close_notify, as somebody on the way would.
func NoCloseNotify() Option { return func(b *behaviour) { b.noNotify = true } }

// NoHandshake accepts data connections and never begins TLS there.
func NoHandshake() Option { return func(b *behaviour) { b.noHandshake = true } }

// While applies options as long as the condition holds. It is asked before each reply.
func While(condition func() bool, options ...Option) Option {
	return func(b *behaviour) {
		if !condition() {
			return
		}
		for _, option := range options {
			option(b)
		}
	}
}
