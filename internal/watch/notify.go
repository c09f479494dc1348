package watch

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// Notifier reports the state of the watcher to the service manager by the protocol of sd_notify(3): one datagram for
// each message, to the socket named in the environment. The zero Notifier sends nothing.
type Notifier struct {
	socket   string
	watchdog time.Duration
}

// NotifierOf returns a Notifier configured by NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID.
func NotifierOf(getenv func(string) string) Notifier {
	n := Notifier{socket: getenv("NOTIFY_SOCKET")}
	usec, err := strconv.ParseInt(getenv("WATCHDOG_USEC"), 10, 64)
	pid := getenv("WATCHDOG_PID")
	if err == nil && usec > 0 && usec < int64(time.Hour*24*365/time.Microsecond) &&
		(pid == "" || pid == strconv.Itoa(os.Getpid())) {
		n.watchdog = time.Duration(usec) * time.Microsecond
	}
	return n
}

// Watchdog returns the longest allowed interval between calls of Alive; 0 means that there is no watchdog.
func (n Notifier) Watchdog() time.Duration {
	if n.socket == "" {
		return 0
	}
	return n.watchdog
}

// Ready reports that the service is ready, with a status text.
func (n Notifier) Ready(status string) error { return n.send("READY=1", "STATUS="+oneLine(status)) }

// Reloading reports that the service is reading its configuration. The caller must call Ready afterwards.
func (n Notifier) Reloading() error {
	now, err := monotonic()
	if err != nil {
		return err
	}
	return n.send("RELOADING=1", fmt.Sprintf("MONOTONIC_USEC=%d", now.Microseconds()))
}

// Stopping reports that the service is stopping.
func (n Notifier) Stopping() error { return n.send("STOPPING=1") }

// Alive resets the watchdog.
func (n Notifier) Alive() error { return n.send("WATCHDOG=1") }

// oneLine replaces line breaks, because each line of a message is an assignment of its own.
func oneLine(s string) string { return strings.NewReplacer("\n", " ", "\r", " ").Replace(s) }

// notifyPatience is the time limit for sending. A service manager that does not read its socket must not block the
// service.
const notifyPatience = time.Second

func (n Notifier) send(words ...string) error {
	if n.socket == "" {
		return nil
	}
	name := n.socket
	if strings.HasPrefix(name, "@") { // an abstract socket (unix(7))
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
