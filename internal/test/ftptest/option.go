package ftptest

import (
	"crypto/tls"
	"time"
)

// Option makes a server misbehave, or behave in a special way. If options contradict each other, the last one applies.
type Option func(*behaviour)

// behaviour is the result of applying the options.
type behaviour struct {
	name           string
	content        Content
	tls            *tls.Config
	user, password string
	open           bool
	modified       time.Time

	ipv6 bool

	replies map[string]string // by command; "" means no reply
	endless map[string]string // by command: a line that is repeated without end
	late    string            // sent before the reply to the next command after a transfer
	host    string            // in the replies to PASV and EPSV
	size    int64             // -1 for the actual size
	noRest  bool              // accept REST but begin at 0
	early   bool              // send 226 before the data

	corrupt           []int64
	longer            int64
	end, reset, stall int64 // -1 for never
	rate              int64 // bytes a second; 0 means no limit
	noNotify          bool
	noHandshake       bool
}

func defaults() behaviour {
	return behaviour{
		name: "file.bin", host: "127,0,0,1", replies: map[string]string{}, endless: map[string]string{},
		size: -1, end: -1, reset: -1, stall: -1, modified: time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC),
	}
}

// Name sets the path of the file. The default is "file.bin".
func Name(path string) Option { return func(b *behaviour) { b.name = path } }

// Holds replaces the file that was given to New.
func Holds(content Content) Option { return func(b *behaviour) { b.content = content } }

// TLS makes the server support AUTH TLS, and its URL an ftps URL.
func TLS(config *tls.Config) Option { return func(b *behaviour) { b.tls = config } }

// User accepts only this user.
func User(name, password string) Option {
	return func(b *behaviour) { b.user, b.password = name, password }
}

// NoPassword accepts the user without a password.
func NoPassword() Option { return func(b *behaviour) { b.open = true } }

// Reply replaces the reply to a command, or to "greeting", or "226" after the data. An empty reply sends nothing.
func Reply(command, bytes string) Option { return func(b *behaviour) { b.replies[command] = bytes } }

// Endless repeats the bytes as the reply to a command, or to "greeting", or "226" after the data, until the client
// closes the connection.
func Endless(command, bytes string) Option {
	return func(b *behaviour) { b.endless[command] = bytes }
}

// Afterthought sends an additional reply after a transfer, which the client reads before the reply to its next command.
func Afterthought(bytes string) Option { return func(b *behaviour) { b.late = bytes } }

// Early226 sends the 226 reply before the data.
func Early226() Option { return func(b *behaviour) { b.early = true } }

// IPv6 makes the server listen on [::1]. It must be passed to New.
func IPv6() Option { return func(b *behaviour) { b.ipv6 = true } }

// Modified sets the time for MDTM. The default is noon of 1 May 2024.
func Modified(t time.Time) Option { return func(b *behaviour) { b.modified = t } }

// PassiveHost sets the address in the replies to PASV and EPSV, in the format of PASV: "10,0,0,1".
func PassiveHost(host string) Option { return func(b *behaviour) { b.host = host } }

// Size sets the size in the reply to SIZE.
func Size(n int64) Option { return func(b *behaviour) { b.size = n } }

// IgnoreRest accepts REST but sends the file from its beginning.
func IgnoreRest() Option { return func(b *behaviour) { b.noRest = true } }

// Corrupt inverts the bytes at these offsets.
func Corrupt(offsets ...int64) Option {
	return func(b *behaviour) { b.corrupt = append(b.corrupt, offsets...) }
}

// Longer sends n bytes after the file.
func Longer(n int64) Option { return func(b *behaviour) { b.longer = n } }

// EndAfter ends transfers at this offset with a 226, as if the file ended there; -1 means never.
func EndAfter(off int64) Option { return func(b *behaviour) { b.end = off } }

// ResetAfter resets the data and control connections at this offset; -1 means never.
func ResetAfter(off int64) Option { return func(b *behaviour) { b.reset = off } }

// StallAfter stops sending at this offset and keeps the connections open; -1 means never.
func StallAfter(off int64) Option { return func(b *behaviour) { b.stall = off } }

// Rate sends n bytes a second.
func Rate(n int64) Option { return func(b *behaviour) { b.rate = n } }

// NoCloseNotify ends TLS on data connections without close_notify, as an attacker on the network would.
func NoCloseNotify() Option { return func(b *behaviour) { b.noNotify = true } }

// NoHandshake accepts data connections but never begins TLS on them.
func NoHandshake() Option { return func(b *behaviour) { b.noHandshake = true } }

// While applies options as long as the condition is true. The condition is evaluated before each reply.
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
