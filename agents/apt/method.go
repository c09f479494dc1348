package apt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"braid/download"
	"braid/download/limit"
	"braid/source"
)

// Limits of the downloads. Apt requests ten files before it waits for the first answer.
const (
	atOnce      = 16      // concurrent downloads
	mostWaiting = 1 << 10 // further requests are an error, so that they cannot fill the memory
)

// A Method is a transport started by apt.
type Method struct {
	// Name is the last element of the path by which apt started the program: "braid+https". Settings of Binary::NAME
	// apply to it.
	Name string
	In   io.Reader
	Out  io.Writer

	mu       sync.Mutex
	failed   error           // error of Out
	warned   map[string]bool // hosts that sent a wrong file, as reported to apt
	names    map[string]bool // names of the files that are being fetched
	settings settings
	logins   []login
	proxies  *proxies
	client   download.Client
	hosts    hosts
	wrong    error // error in the settings: nothing is fetched
	running  sync.WaitGroup
	room     chan struct{}
}

// Run handles apt's messages until apt closes the pipe or ctx is done. It returns nil if apt closed the pipe. If apt's
// configuration has a user for the sandbox, the process becomes that user before it sends any request. If that fails,
// Run sends the error to apt and returns it.
func (m *Method) Run(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer m.running.Wait()
	defer stop(context.Canceled)
	m.room, m.warned, m.names = make(chan struct{}, atOnce), map[string]bool{}, map[string]bool{}
	m.send(&Message{Code: 100, Text: "Capabilities", Fields: []Field{
		{"Version", "1.2"}, {"Single-Instance", "true"}, {"Pipeline", "true"}, {"Send-Config", "true"},
		{"Send-URI-Encoded", "true"},
	}})
	var waiting atomic.Int32
	messages, ended := make(chan *Message), make(chan error, 1)
	go func() { ended <- read(ctx, m.In, messages) }() // may block on apt after Run has returned
	for configured := false; ; {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case err := <-ended:
			if err == io.EOF {
				return nil
			}
			return m.general(err)
		case x := <-messages:
			switch {
			case x.Code == 601 && configured: // refused: a configuration is in use, and root's rights are dropped
				return m.general(errors.New("apt sent its configuration twice"))
			case x.Code == 601:
				if err := m.configure(x); err != nil {
					return m.general(err)
				}
				configured = true
			case x.Code != 600: // an unknown message
			case !configured:
				return m.general(errors.New("apt requested a file before it sent its configuration, " +
					"which names the user to run as"))
			case waiting.Load() == mostWaiting:
				return m.general(fmt.Errorf("apt wants more than %d files at once", mostWaiting))
			default:
				waiting.Add(1)
				m.running.Go(func() { m.acquire(ctx, x); waiting.Add(-1) })
			}
			if err := m.broken(); err != nil {
				return err
			}
		}
	}
}

// read reads messages and sends them to a channel.
func read(ctx context.Context, in io.Reader, messages chan<- *Message) error {
	for r := NewReader(in); ; {
		m, err := r.Next()
		if err != nil {
			return err
		}
		select {
		case messages <- m:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// configure reads apt's configuration and the files that only root may read, and enters the sandbox.
func (m *Method) configure(x *Message) error {
	m.settings = readSettings(x, m.Name)
	m.logins = readLogins(&m.settings)
	m.proxies = newProxies(&m.settings)
	hc, err := m.settings.newClient(m.proxies)
	m.wrong = err
	m.client = download.Client{HTTP: hc, Tries: 3, RetryWait: 300 * time.Millisecond, Timeout: m.settings.timeout()}
	if rate := m.settings.number(anyServer, "Dl-Limit", 0); rate > 0 {
		m.client.Limit = limit.New(rate << 10)
	}
	user, said := m.settings.lookup("APT::Sandbox::User")
	if !said {
		user = "_apt"
	}
	if is(m.settings.get("Debug::NoDropPrivs"), false) {
		user = ""
	}
	return enter(user)
}

// acquire fetches a file and sends the result.
func (m *Method) acquire(ctx context.Context, message *Message) {
	select {
	case m.room <- struct{}{}:
		defer func() { <-m.room }()
	case <-ctx.Done():
		return
	}
	x, err := m.settings.newItem(message)
	if err == nil {
		err = m.wrong
	}
	var done *Message
	if err == nil {
		done, err = m.bring(ctx, x)
	}
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		done = x.failed(err)
	}
	m.send(done)
}

// bring fetches a file. It refuses a second download to the same name, because the digests in the answer must describe
// the file at that name.
func (m *Method) bring(ctx context.Context, x *item) (*Message, error) {
	if !m.take(x.file) {
		return nil, fmt.Errorf("%s: another file is being written there", x.file)
	}
	defer m.leave(x.file)
	for _, u := range x.configured {
		m.proxies.give(u, x.proxy)
	}
	c := m.client
	c.MaxSize = x.most
	t := &telling{item: x, method: m}
	r, err := x.fetch(ctx, &c, &m.hosts, m.logins, t.hear)
	t.close()
	switch {
	case err != nil:
		return nil, err
	case r.NotModified:
		os.Remove(x.file) // remains of an earlier run
	case !r.AlreadyComplete:
		t.start(r.Size)
	}
	return x.done(r)
}

// take reserves a name until leave. It reports false if the name is already reserved.
func (m *Method) take(name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.names[name]
	m.names[name] = true
	return !before
}

func (m *Method) leave(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.names, name)
}

func (m *Method) send(x *Message) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := io.WriteString(m.Out, x.String()); err != nil {
		m.failed = err
	}
}

// first reports whether apt was not warned of host before, and records the warning.
func (m *Method) first(host string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.warned[host]
	m.warned[host] = true
	return !before
}

// broken returns the error of writing to apt, if any.
func (m *Method) broken() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.failed
}

// general sends an error that ends the transport, and returns it.
func (m *Method) general(err error) error {
	m.send(&Message{Code: 401, Text: "General Failure", Fields: []Field{{"Message", "braid: " + err.Error()}}})
	return err
}

// A telling reports the progress of a file to apt.
type telling struct {
	item    *item
	method  *Method
	started bool
	resumed int64
	begun   prefix
}

// hear handles an event of the download, and sends apt the messages for it.
func (t *telling) hear(e download.Event) {
	switch e := e.(type) {
	case download.Note:
		code, text := 101, "Log"
		if e.Plain {
			code, text = 104, "Warning"
		}
		t.say(code, text, e.Text)
	case download.Resumed:
		t.resumed = e.Bytes
	case download.SourceUp:
		t.say(102, "Status", "Fetching from "+e.Host)
	case download.SourceDown:
		t.method.hosts.fail(e.Host, time.Now())
		if e.Banned && t.method.first(e.Host) {
			t.say(104, "Warning", "the mirror "+e.URL+" is not used: "+source.Escape(e.Err.Error()))
		}
	case download.Progress:
		t.start(e.Size)
	}
	t.begun.hear(e, t.item.file)
}

func (t *telling) say(code int, text, message string) {
	t.method.send(&Message{Code: code, Text: text, Fields: []Field{{"URI", t.item.uri}, {"Message", message}}})
}

// start sends the message that the file is being received. size is -1 if the size is unknown.
func (t *telling) start(size int64) {
	if t.started {
		return
	}
	t.started = true
	m := &Message{Code: 200, Text: "URI Start", Fields: []Field{{"URI", t.item.uri}}}
	if size = max(size, t.item.size); size >= 0 {
		m.Add("Size", strconv.FormatInt(size, 10))
	}
	if t.resumed > 0 {
		m.Add("Resume-Point", strconv.FormatInt(t.resumed, 10))
	}
	t.method.send(m)
}

func (t *telling) close() { t.begun.close() }
