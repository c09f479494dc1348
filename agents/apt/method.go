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
	"braid/source"
)

// Apt asks for ten files before it has heard of the first.
const (
	atOnce      = 16      // files come at a time
	mostWaiting = 1 << 10 // more are a mistake, or a program that fills memory
)

// A Method is a transport that apt has started.
type Method struct {
	// Name is the last part of the name that apt started it by: "braid+https". Settings of Binary::NAME are for it.
	Name string
	In   io.Reader
	Out  io.Writer

	mu       sync.Mutex
	failed   error           // of Out
	warned   map[string]bool // of which hosts apt was told that they have other files
	names    map[string]bool // of the files that come
	settings settings
	logins   []login
	proxies  *proxies
	client   download.Client
	hosts    hosts
	wrong    error // of the settings: nothing is fetched
	running  sync.WaitGroup
	room     chan struct{}
}

// Run does what apt says, until apt closes the pipe, which is no error, or ctx ends. Where apt's configuration names a
// user for the sandbox, the process becomes that user before it asks any server; its error then ends Run, and apt has
// been told.
func (m *Method) Run(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer m.running.Wait()
	defer stop(context.Canceled)
	m.room, m.warned, m.names = make(chan struct{}, atOnce), map[string]bool{}, map[string]bool{}
	m.send(&Message{Code: 100, Text: "Capabilities", Fields: []Field{
		{"Version", "1.2"}, {"Single-Instance", "true"}, {"Pipeline", "true"}, {"Send-Config", "true"}, {"Send-URI-Encoded", "true"},
	}})
	var waiting atomic.Int32
	messages, ended := make(chan *Message), make(chan error, 1)
	go func() { ended <- read(ctx, m.In, messages) }() // it may wait for apt for ever, and is of no use then
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
			case x.Code == 601 && configured: // files come by the first one, and root's rights are gone
				return m.general(errors.New("apt says its configuration twice"))
			case x.Code == 601:
				if err := m.configure(x); err != nil {
					return m.general(err)
				}
				configured = true
			case x.Code != 600: // of a later apt, or an answer to what is never asked
			case !configured:
				return m.general(errors.New("apt wants a file and has not said its configuration: braid does not know as which user to fetch it"))
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

// read passes messages on, until they end.
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

// configure takes apt's configuration, reads what only root may, and enters the sandbox.
func (m *Method) configure(x *Message) error {
	m.settings = readSettings(x, m.Name)
	m.logins = readLogins(&m.settings)
	m.proxies = newProxies(&m.settings)
	hc, err := m.settings.newClient(m.proxies)
	m.wrong = err
	m.client = download.Client{HTTP: hc, Tries: 3, RetryWait: 300 * time.Millisecond, Timeout: m.settings.timeout()}
	if rate := m.settings.number(anyServer, "Dl-Limit", 0); rate > 0 {
		m.client.Limit = download.NewLimit(rate << 10)
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

// acquire fetches a file and says how that ended.
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

// bring fetches a file. The digests that the message has are those of the bytes at its name, so none other comes there.
func (m *Method) bring(ctx context.Context, x *item) (*Message, error) {
	if !m.take(x.file) {
		return nil, fmt.Errorf("%s: another file comes there", x.file)
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
		os.Remove(x.file) // what an earlier run left is no part of what apt has
	case !r.AlreadyComplete:
		t.start(r.Size)
	}
	return x.done(r)
}

// take reports whether no file comes at a name, and reserves it until leave.
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

// send writes a message.
func (m *Method) send(x *Message) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := io.WriteString(m.Out, x.String()); err != nil {
		m.failed = err
	}
}

// first reports whether apt was not warned of a host yet.
func (m *Method) first(host string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.warned[host]
	m.warned[host] = true
	return !before
}

// broken is an error if apt takes no messages any more.
func (m *Method) broken() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.failed
}

// general tells apt of an error that ends the transport.
func (m *Method) general(err error) error {
	m.send(&Message{Code: 401, Text: "General Failure", Fields: []Field{{"Message", "braid: " + err.Error()}}})
	return err
}

// A telling tells apt how far a file is.
type telling struct {
	item    *item
	method  *Method
	started bool
	resumed int64
	begun   prefix
}

// hear is told of events, one after the other.
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

// start says that the file comes. Size is -1 if it is not known.
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
