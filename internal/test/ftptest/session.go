package ftptest

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
)

// session is a control connection.
type session struct {
	s       *Server
	raw     net.Conn
	conn    net.Conn
	in      *bufio.Reader
	user    string
	welcome bool
	private bool // PROT P
	binary  bool // TYPE I
	late    string
	start   int64
	passive net.Listener
}

func newSession(s *Server, raw net.Conn) *session {
	return &session{s: s, raw: raw, conn: raw, in: bufio.NewReader(raw)}
}

// say sends a reply, unless an option replaces it.
func (c *session) say(command, reply string) {
	if line, ok := c.s.behave().endless[command]; ok {
		c.flood(line)
		return
	}
	if other, ok := c.s.behave().replies[command]; ok {
		io.WriteString(c.conn, other)
		return
	}
	io.WriteString(c.conn, reply+"\r\n") // an error means that the client has left
}

// flood sends line repeatedly until the client closes the connection.
func (c *session) flood(line string) {
	much := []byte(strings.Repeat(line, 1+chunk/len(line)))
	for {
		if _, err := c.conn.Write(much); err != nil {
			return
		}
	}
}

// has reports whether an option replaces the reply to a command, and sends that reply.
func (c *session) has(command string) bool {
	b := c.s.behave()
	_, ok := b.replies[command]
	_, endless := b.endless[command]
	if ok = ok || endless; ok {
		c.say(command, "")
	}
	return ok
}

func (c *session) serve() {
	defer c.s.release(c.raw)
	defer c.unlisten()
	c.say("greeting", "220-ftptest\r\n220 ready")
	for {
		line, err := c.in.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimRight(line, "\r\n")
		c.s.note(line)
		io.WriteString(c.conn, c.late)
		c.late = ""
		command, arg, _ := strings.Cut(line, " ")
		switch {
		case command == "QUIT":
			c.say(command, "221 bye")
			return
		case c.has(command):
		case !c.enter(command, arg) && !c.welcome:
			c.say("", "530 log in first")
		case c.welcome && !c.do(command, arg):
			return
		}
	}
}

// enter handles the commands before the login. It returns false for other commands.
func (c *session) enter(command, arg string) bool {
	b := c.s.behave()
	switch {
	case command == "AUTH" && b.tls == nil:
		c.say(command, "502 no TLS here")
	case command == "AUTH":
		c.say(command, "234 begin")
		c.conn = tls.Server(c.raw, b.tls)
		c.in = bufio.NewReader(c.conn)
	case command == "USER" && b.open:
		c.welcome = true
		c.say(command, "230 welcome")
	case command == "USER":
		c.user = arg
		c.say(command, "331 password?")
	case command == "PASS":
		c.welcome = b.user == "" && c.user == "anonymous" || b.user != "" && b.user == c.user && b.password == arg
		if c.welcome {
			c.say(command, "230 welcome")
		} else {
			c.say(command, "530 not "+c.user+" with "+arg)
		}
	default:
		return false
	}
	return true
}

// do handles a command after the login. It returns false if the connection has ended.
func (c *session) do(command, arg string) bool {
	b := c.s.behave()
	switch command {
	case "USER", "PASS", "AUTH": // handled by enter
	case "FEAT":
		c.say(command, "211-Features:\r\n SIZE\r\n MDTM\r\n REST STREAM\r\n EPSV\r\n211 End")
	case "PBSZ":
		c.say(command, "200 ok")
	case "TYPE":
		c.binary = arg == "I"
		c.say(command, "200 ok")
	case "PROT":
		c.private = arg == "P"
		c.say(command, "200 ok")
	case "SIZE":
		if !c.binary { // the size in ASCII mode depends on the line ends
			c.say(command, "550 not in ASCII mode")
			break
		}
		c.file(command, arg, strconv.FormatInt(c.size(b), 10))
	case "MDTM":
		c.file(command, arg, b.modified.Format("20060102150405"))
	case "EPSV", "PASV":
		c.listen(command, b)
	case "REST":
		n, err := strconv.ParseInt(arg, 10, 64)
		if err != nil {
			c.say(command, "501 no number")
			break
		}
		if c.start = n; b.noRest {
			c.start = 0
		}
		c.say(command, "350 go on")
	case "RETR":
		return c.retr(arg)
	default:
		c.say(command, "502 unknown")
	}
	return true
}

func (c *session) size(b behaviour) int64 {
	if b.size >= 0 {
		return b.size
	}
	return b.content.Size()
}

// file replies with value to a command about the file, if path is that file.
func (c *session) file(command, path, value string) {
	if strings.TrimPrefix(path, "/") != c.s.behave().name {
		c.say(command, "550 no such file")
		return
	}
	c.say(command, "213 "+value)
}

// listen opens a port for data.
func (c *session) listen(command string, b behaviour) {
	c.unlisten()
	if command == "PASV" && b.ipv6 {
		c.say(command, "522 no room for that address") // RFC 2428, section 2
		return
	}
	ln, err := net.Listen("tcp", net.JoinHostPort(b.ip(), "0"))
	if err != nil {
		c.say(command, "425 no port")
		return
	}
	if !c.s.hold(ln) {
		return
	}
	c.passive = ln
	port := ln.Addr().(*net.TCPAddr).Port
	if command == "PASV" {
		c.say(command, fmt.Sprintf("227 Entering Passive Mode (%s,%d,%d).", b.host, port>>8, port&255))
		return
	}
	where := "||"
	if b.host != defaults().host {
		where = "1|" + strings.ReplaceAll(b.host, ",", ".") + "|"
	}
	c.say(command, fmt.Sprintf("229 Entering Extended Passive Mode (|%s%d|)", where, port))
}

// ip returns the address to listen on.
func (b behaviour) ip() string {
	if b.ipv6 {
		return "::1"
	}
	return "127.0.0.1"
}

func (c *session) unlisten() {
	if c.passive != nil {
		c.s.release(c.passive)
		c.passive = nil
	}
}
