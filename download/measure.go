package download

import (
	"context"
	"time"

	"braid/byterange"
	"braid/metalink"
	"braid/source"
	"braid/verify"
)

// mostMeasured limits the bytes that a measurement fetches from one place.
const mostMeasured = 16 << 20

// A Measurement is the result of measuring one place.
type Measurement struct {
	URL   string        // masked
	Host  string        // host:port that answered, or of the URL
	RTT   time.Duration // 0: unknown
	Bytes int64
	Took  time.Duration // time since the answer
	Err   error         // why the place is of no use
}

// Rate returns the speed in bytes a second, 0 if nothing was measured.
func (g Measurement) Rate() float64 {
	if g.Took <= 0 {
		return 0
	}
	return float64(g.Bytes) / g.Took.Seconds()
}

// measureAll implements Client.Measure.
func measureAll(ctx context.Context, hc network, req *Request, f metalink.File, moment time.Duration) []Measurement {
	claims := join(req.Trust.Claims, f.Claims)
	all := []Measurement{measure(ctx, hc.Source(req.URL, req.lookOptions(condition{})), origin{url: req.URL}, f.Size,
		claims, moment)}
	for _, m := range f.Mirrors {
		if ctx.Err() != nil {
			break
		}
		opts := req.mirrorOptions(vouched(claims))
		opts.Named = req.namedBy(m.URL, m.By)
		all = append(all, measure(ctx, hc.Source(m.URL, opts), origin{url: m.URL}, f.Size, claims, moment))
	}
	return all
}

// measure measures the place o with bytes from src.
func measure(ctx context.Context, src source.Source, o origin, size int64, claims []verify.Claim,
	moment time.Duration) Measurement {
	o.masked, o.host = source.Mask(o.url), source.HostPort(o.url)
	r := byterange.Range{Start: 0, End: mostMeasured}
	if size >= 0 && size <= mostMeasured {
		r = whole
	}
	over, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &measureSink{of: &o, size: size, claims: claims, moment: moment, over: cancel,
		result: Measurement{URL: o.masked, Host: o.host}}
	err := src.Fetch(over, r, s)
	if s.answered.IsZero() || over.Err() == nil || ctx.Err() != nil { // otherwise the measurement ended the fetch
		s.result.Err = err
	}
	if !s.answered.IsZero() {
		s.timer.Stop()
		s.result.Took = time.Since(s.answered)
	}
	return s.result
}

// A measureSink counts bytes. It calls over when moment has passed since the answer.
type measureSink struct {
	of       *origin
	size     int64
	claims   []verify.Claim
	moment   time.Duration
	over     func()
	timer    *time.Timer
	answered time.Time
	result   Measurement
}

// Answer implements source.Sink.
func (s *measureSink) Answer(a source.Answer) error {
	s.result.RTT = a.RTT
	if a.Host != "" {
		s.of.host, s.result.Host = a.Host, a.Host
	}
	if err := sameFile(s.of, a, s.size, s.claims); err != nil {
		return err
	}
	s.answered, s.timer = time.Now(), time.AfterFunc(s.moment, s.over)
	return nil
}

// WriteAt implements source.Sink.
func (s *measureSink) WriteAt(p []byte, _ int64) (int, error) {
	s.result.Bytes += int64(len(p))
	if s.result.Bytes >= mostMeasured {
		return len(p), source.ErrEnough
	}
	return len(p), nil
}
