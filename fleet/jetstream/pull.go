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
	// firstPull is how long a request for a message is open on a new connection: a server that has just begun may pass
	// over it. Those after it are open for twice as long each, up to longPull. Where there are several servers the one
	// that knew of it may be lost while the connection stays.
	firstPull, longPull, longClusterPull = time.Second, time.Minute, 5 * time.Second
	// skipEmpty is for how long a priority that had no message is passed over for those below it.
	skipEmpty = 100 * time.Millisecond
)

// pulls are the requests of a process for messages. Those that wait for one stay open when a message of another
// priority comes: to end them could lose a message on its way. What they bring while the process wants no job goes back
// at once.
type pulls struct {
	conn  *nats.Conn
	inbox string
	long  time.Duration

	turn   sync.Mutex    // held by the one that wants a message
	mu     sync.Mutex    // for the following
	open   time.Duration // how long the next request is
	of     []pull        // by priority, the highest first
	asked  int
	wanted chan pulled
}

// A pull is the request for a message of one priority.
type pull struct {
	subject string    // of the messages
	api     string    // that requests go to
	reply   string    // of the last request
	until   time.Time // when it is over; zero if it was answered
	empty   time.Time // when there was no message
}

// pulled is what came of a request: a message, an error, or that there is nothing.
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

// nameFor is a name of what belongs to a priority. Before there were priorities there was one.
func nameFor(name, separator string, p fleet.Priority) string {
	if p == fleet.Normal {
		return name
	}
	return name + separator + string(p)
}

// arrived takes an answer to a request. A message has the subject that it was published with, all else that of the request.
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
	case "404", "408": // there is none, or none came
		p.give(pulled{})
	case "":
		p.give(pulled{msg: msg})
	default:
		p.give(pulled{err: fmt.Errorf("no messages: %s %s", status, msg.Header.Get("Description"))})
	}
}

// give hands over what came. The mutex is held.
func (p *pulls) give(x pulled) {
	select {
	case p.wanted <- x:
	default:
		if x.msg != nil {
			x.msg.Nak()
		}
	}
}

// renew begins anew with another connection: the server does not know of the requests.
func (p *pulls) renew() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open = firstPull
	for i := range p.of {
		p.of[i].until = time.Time{}
	}
	p.give(pulled{})
}

// next returns a message, the one of the highest priority if there are several.
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

// unwant gives back what came after the message that was wanted.
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

// await waits for an answer, and reports whether there was one.
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

// ask requests a message: one that is there, or for as long as the request is to be open one that comes. It reports
// whether an answer is to come. For a priority whose request is open there is no message.
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
