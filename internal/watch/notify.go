package watch

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// A Notifier tells the service manager how the watcher is, by the protocol of sd_notify(3): one datagram for each word,
// to the socket that the environment names. The zero Notifier is silent.
type Notifier struct {
	socket   string
	watchdog time.Duration
}

// NotifierOf reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID.
func NotifierOf(getenv func(string) string) Notifier {
	n := Notifier{socket: getenv("NOTIFY_SOCKET")}
	usec, err := strconv.ParseInt(getenv("WATCHDOG_USEC"), 10, 64)
	pid := getenv("WATCHDOG_PID")
	if err == nil && usec > 0 && usec < int64(time.Hour*24*365/time.Microsecond) && (pid == "" || pid == strconv.Itoa(os.Getpid())) {
		n.watchdog = time.Duration(usec) * time.Microsecond
	}
	return n
}

// Watchdog is how often Alive must be called at least; 0: there is no watchdog.
func (n Notifier) Watchdog() time.Duration {
	if n.socket == "" {
		return 0
	}
	return n.watchdog
}

// Ready says that the service does what it is for, and what that is.
func (n Notifier) Ready(status string) error { return n.send("READY=1", "STATUS="+oneLine(status)) }

// Reloading says that the service reads its configuration. Ready follows.
func (n Notifier) Reloading() error {
	now, err := monotonic()
	if err != nil {
		return err
	}
	return n.send("RELOADING=1", fmt.Sprintf("MONOTONIC_USEC=%d", now.Microseconds()))
}

// Stopping says that the service ends.
func (n Notifier) Stopping() error { return n.send("STOPPING=1") }

// Alive keeps the watchdog quiet.
func (n Notifier) Alive() error { return n.send("WATCHDOG=1") }

// oneLine is text that cannot be taken for another word.
func oneLine(s string) string { return strings.NewReplacer("\n", " ", "\r", " ").Replace(s) }

// notifyPatience is how long a manager that does not read what it is told may hold a service up.
const notifyPatience = time.Second

func (n Notifier) send(words ...string) error {
	if n.socket == "" {
		return nil
	}
	name := n.socket
	if strings.HasPrefix(name, "@") { // an abstract one (unix(7))
		name = "\x00" + name[1:]
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetWriteDeadline(time.Now().Add(notifyPatience)); err != nil {
		return err
	}
	_, err = conn.Write([]byte(strings.Join(words, "\n")))
	return err
}
