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
	// onePull is how long a request for a message is open. It ends with the connection; where there are several servers the one that knew of it may be
	// lost without that.
	onePull, oneClusterPull = time.Minute, 5 * time.Second
	// skipEmpty is for how long a priority that had no message is passed over for those below it.
	skipEmpty = 100 * time.Millisecond
)

// pulls are the requests of a process for messages. Those that wait for one stay open when a message of another priority comes: who ends them may
// lose what is on its way. What they bring while the process wants no job goes back at once.
type pulls struct {
	conn  *nats.Conn
	inbox string
	open  time.Duration // how long a request is

	turn   sync.Mutex // held by the one that wants a message
	mu     sync.Mutex // for the following
	of     []pull     // by priority, the highest first
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
	p := &pulls{conn: conn, inbox: nats.NewInbox(), open: onePull}
	if clustered {
		p.open = oneClusterPull
	}
	for _, level := range fleet.Priorities {
		p.of = append(p.of, pull{subject: nameFor(subject, ".", level), api: "$JS.API.CONSUMER.MSG.NEXT." + streamName + "." + nameFor(consumerName, "-", level)})
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
		if asked, err := p.ask(level, true); err != nil || !asked {
			if err != nil {
				return nil, err
			}
			continue
		}
		if msg, err := p.await(ctx, came, oneCall); msg != nil || err != nil {
			return msg, err
		}
	}
	for {
		for level := range p.of {
			if _, err := p.ask(level, false); err != nil {
				return nil, err
			}
		}
		if msg, err := p.await(ctx, came, p.open+time.Second); msg != nil || err != nil {
			return msg, err
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

// await waits for the answer to a request. Without a message and an error there is none.
func (p *pulls) await(ctx context.Context, came <-chan pulled, most time.Duration) (*nats.Msg, error) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case x := <-came:
		return x.msg, x.err
	case <-timer.C:
		return nil, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ask requests a message, and reports whether an answer is to come: at once, or when there is one. One that waits for a request that is open knows
// that there is none.
func (p *pulls) ask(level int, now bool) (bool, error) {
	p.mu.Lock()
	l := &p.of[level]
	at := time.Now()
	if at.Before(l.until) || now && at.Sub(l.empty) < skipEmpty {
		p.mu.Unlock()
		return false, nil
	}
	p.asked++
	l.reply = p.inbox + "." + strconv.Itoa(p.asked)
	how := `{"batch":1,"no_wait":true}`
	if now {
		l.empty = at // unless a message comes
	} else {
		l.until = at.Add(p.open + time.Second)
		how = fmt.Sprintf(`{"batch":1,"expires":%d}`, p.open)
	}
	reply := l.reply
	p.mu.Unlock()
	return true, p.conn.PublishRequest(l.api, reply, []byte(how))
}
