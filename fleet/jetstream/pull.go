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
	// firstPull is how long the first request for a message on a new connection stays open. It is short, because a
	// server that has just started may lose the request. Each later request stays open twice as long as the one before,
	// up to longPull. In a cluster, the server with the request may be lost while the connection stays.
	firstPull, longPull, longClusterPull = time.Second, time.Minute, 5 * time.Second
	// skipEmpty is how long a priority without a message is skipped, and lower priorities are asked instead.
	skipEmpty = 100 * time.Millisecond
)

// pulls are the requests of this process for messages. A request stays open when a message of another priority arrives,
// because canceling it could lose a message. A message that arrives while the process wants no job is returned.
type pulls struct {
	conn  *nats.Conn
	inbox string
	long  time.Duration

	turn   sync.Mutex    // held while a caller wants a message
	mu     sync.Mutex    // guards the fields below
	open   time.Duration // how long the next request stays open
	of     []pull        // by priority, the highest first
	asked  int
	wanted chan pulled
}

// A pull is the request for a message of one priority.
type pull struct {
	subject string    // subject of the messages
	api     string    // subject of the requests
	reply   string    // of the last request
	until   time.Time // when the request expires; zero if it was answered
	empty   time.Time // time of the last answer without a message
}

// A pulled is the result of a request: a message, an error, or neither if no message arrived.
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

// nameFor returns name with a suffix for priority p. Normal has no suffix, so that older queues stay valid.
func nameFor(name, separator string, p fleet.Priority) string {
	if p == fleet.Normal {
		return name
	}
	return name + separator + string(p)
}

// arrived handles msg, an answer to a request. A message of the stream has the subject under which it was published.
// Any other answer has the reply subject of the request.
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

// give passes x to the waiting receiver. Without a receiver, it returns the message in x to the stream. p.mu must be held.
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

// next returns a message. If several priorities have one, it returns a message of the highest.
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

// unwant returns messages to the stream that arrived after the wanted one.
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

// await waits for an answer, at most for the given time, and reports whether one arrived.
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

// ask requests a message that exists or, if open is not 0, one that arrives while the request is open. It reports whether
// an answer can be expected. While an earlier request is open, it sends none, because that priority has no message then.
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
		l.empty = at // until a message arrives
	} else {
		l.until = at.Add(open + time.Second)
		how = fmt.Sprintf(`{"batch":1,"expires":%d}`, open)
	}
	reply := l.reply
	p.mu.Unlock()
	return true, p.conn.PublishRequest(l.api, reply, []byte(how))
}
