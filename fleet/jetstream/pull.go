package jetstream

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"braid/fleet"
)

const (
	// firstPull is how long a request for a message is open on a new connection, because a server that has just started
	// may drop it. Each later request is open twice as long as the previous one, up to longPull. In a cluster the
	// server with the request may be lost while the connection stays.
	firstPull, longPull, longClusterPull = time.Second, time.Minute, 5 * time.Second
	// skipEmpty is how long a priority without a message is skipped in favor of lower ones.
	skipEmpty = 100 * time.Millisecond
)

// pulls are the requests of a process for messages. A request stays open when a message of another priority comes,
// because ending it could lose a message in transit. Messages that arrive while the process wants no job are given back
// at once.
type pulls struct {
	conn  *nats.Conn
	inbox string
	long  time.Duration

	turn   sync.Mutex    // held while a message is wanted
	mu     sync.Mutex    // guards the following
	open   time.Duration // length of the next request
	of     []pull        // by priority, the highest first
	asked  int
	wanted chan pulled
}

// A pull is the request for a message of one priority.
type pull struct {
	subject string    // of the messages
	api     string    // subject of requests
	reply   string    // of the last request
	until   time.Time // end of the request; zero if it was answered
	empty   time.Time // time of the last "no message"
}

// pulled is the result of a request: a message, an error, or neither if no message came.
type pulled struct {
	msg *nats.Msg
	err error
}

func newPulls(conn *nats.Conn, clustered bool) (*pulls, error) {
	p := &pulls{conn: conn, inbox: nats.NewInbox(), open: firstPull, long: longPull}
	if clustered {
		p.long = longClusterPull
	}
	for _, level := range fleet.Priorities {
		p.of = append(p.of, pull{subject: nameFor(subject, ".", level),
			api: "$JS.API.CONSUMER.MSG.NEXT." + streamName + "." + nameFor(consumerName, "-", level)})
	}
	_, err := conn.Subscribe(p.inbox+".*", p.arrived)
	return p, err
}

// nameFor returns a name for a priority. Normal has the plain name, as in queues from before priorities.
func nameFor(name, separator string, p fleet.Priority) string {
	if p == fleet.Normal {
		return name
	}
	return name + separator + string(p)
}

// arrived handles an answer to a request. A message has the subject under which it was published, any other answer the
// reply subject of the request.
func (p *pulls) arrived(msg *nats.Msg) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for level := range p.of {
		if l := &p.of[level]; msg.Subject == l.subject || msg.Subject == l.reply {
			l.until = time.Time{}
			if msg.Subject == l.subject {
				l.empty = l.until
			}
		}
	}
	switch status := msg.Header.Get("Status"); status {
	case "404", "408": // no message now, or none came in time
		p.give(pulled{})
	case "":
		p.give(pulled{msg: msg})
	default:
		p.give(pulled{err: fmt.Errorf("cannot receive messages: %s %s", status, msg.Header.Get("Description"))})
	}
}

// give passes x to the waiting receiver. If none waits, a message goes back to the stream. The caller holds mu.
func (p *pulls) give(x pulled) {
	select {
	case p.wanted <- x:
	default:
		if x.msg != nil {
			x.msg.Nak()
		}
	}
}

// renew forgets the requests, because the server of a new connection does not know them.
func (p *pulls) renew() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open = firstPull
	for i := range p.of {
		p.of[i].until = time.Time{}
	}
	p.give(pulled{})
}

// next returns a message, of the highest priority if several have one.
func (p *pulls) next(ctx context.Context) (*nats.Msg, error) {
	p.turn.Lock()
	defer p.turn.Unlock()
	came := make(chan pulled, 16)
	p.want(came)
	defer p.unwant(came)
	for level := range p.of {
		asked, err := p.ask(level, 0)
		if err != nil {
			return nil, err
		}
		if !asked {
			continue
		}
		x, answered := await(ctx, came, oneCall)
		if x.msg != nil || x.err != nil {
			return x.msg, x.err
		}
		if !answered {
			break
		}
	}
	return p.wait(ctx, came)
}

// wait returns the first message that comes.
func (p *pulls) wait(ctx context.Context, came <-chan pulled) (*nats.Msg, error) {
	for {
		p.mu.Lock()
		open := p.open
		p.mu.Unlock()
		for level := range p.of {
			if _, err := p.ask(level, open); err != nil {
				return nil, err
			}
		}
		x, answered := await(ctx, came, open+time.Second)
		if x.msg != nil || x.err != nil {
			return x.msg, x.err
		}
		if answered {
			p.mu.Lock()
			p.open = min(2*p.open, p.long)
			p.mu.Unlock()
		}
	}
}

func (p *pulls) want(came chan pulled) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wanted = came
}

// unwant gives back messages that came after the wanted one.
func (p *pulls) unwant(came chan pulled) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wanted = nil
	for len(came) > 0 {
		if x := <-came; x.msg != nil {
			x.msg.Nak()
		}
	}
}

// await waits for an answer, and reports whether one came.
func await(ctx context.Context, came <-chan pulled, most time.Duration) (pulled, bool) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case x := <-came:
		return x, true
	case <-timer.C:
		return pulled{}, false
	case <-ctx.Done():
		return pulled{err: ctx.Err()}, false
	}
}

// ask requests a message: an existing one, or one that comes while the request is open. It reports whether an answer is
// to be expected. It sends no request while an earlier one is open, because the priority then has no message.
func (p *pulls) ask(level int, open time.Duration) (bool, error) {
	p.mu.Lock()
	l := &p.of[level]
	at := time.Now()
	if at.Before(l.until) || open == 0 && at.Sub(l.empty) < skipEmpty {
		p.mu.Unlock()
		return false, nil
	}
	p.asked++
	l.reply = p.inbox + "." + strconv.Itoa(p.asked)
	how := `{"batch":1,"no_wait":true}`
	if open == 0 {
		l.empty = at // unless a message comes
	} else {
		l.until = at.Add(open + time.Second)
		how = fmt.Sprintf(`{"batch":1,"expires":%d}`, open)
	}
	reply := l.reply
	p.mu.Unlock()
	return true, p.conn.PublishRequest(l.api, reply, []byte(how))
}
