package fleet

import (
	"container/heap"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// A simulated fleet has watchers, workers, hosts and a queue, in virtual time: events follow each other, and nothing
// else runs. What a record, a lease and a pace become is decided by the types of this package; what fleet/jetstream and
// the commands add (a message for each record, a heartbeat, turns taken ahead) is modelled here, with their figures.

// A shape is how large a simulated fleet is, and what it has to do.
type shape struct {
	feeds, files, hosts, groups int
	workers                     int
	updates                     float64       // an hour
	length                      time.Duration // for how long there are some
	rate                        float64       // requests a second that each host gets of all
	bytes                       int64         // that each host sends a second to all; if zero, as fast as it goes
	held                        int           // requests of which one is answered by 503 for a minute; if zero, none is
	write                       time.Duration // that the queue needs to store a value on disk
	single                      bool          // the queue is one server, which is asked whether a lease is held

	lease, poll, answer time.Duration // answer is how long each request takes
	requests            int           // of a job
	took                time.Duration // to download any file; if zero, files are of all sizes, and some fail
}

// What the model takes for granted.
const (
	downloads   = 4   // at once, in a worker
	speed       = 8e6 // bytes a second of one download
	median      = 4e6 // bytes of a file
	spread      = 2   // sigma of the logarithm of sizes: the mean is 30 MB
	toQueue     = time.Millisecond
	backAfter   = 5 * time.Second // a killed process is started again
	ahead       = 200 * time.Millisecond
	flush       = time.Second // between two times that a watcher stores what it has seen
	mostAhead   = 100         // polls a second of what a new watcher finds to be late
	wrongEvery  = 50          // jobs, of which one has a wrong digest at the first try
	failedEvery = 100
	hopeless    = 2000
)

type event struct {
	at  time.Duration
	seq int
	do  func()
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].seq < e[j].seq
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := len(*e) - 1
	x := (*e)[last]
	(*e)[last].do = nil
	*e = (*e)[:last]
	return x
}

// A sim is one run.
type sim struct {
	shape
	random *rand.Rand
	now    time.Duration
	coming events
	seq    int

	freeAt, upAt   time.Duration // the queue: when it has stored what it was given, and when it answers again
	writes, reads  int
	busy           time.Duration
	ready          []*file // whose message waits for a worker
	idle           []*slot
	files          []*file // by number; nil if nothing was published yet
	feedHost       []int
	hosts          []host
	workers        []*worker
	groups         []*group
	depth, deepest int
	depths         []float64     // of the queue, each 10 seconds
	slack          time.Duration // how late a file may be without a cause of its own; if zero, that does not matter
	stops          int
	stopNext       int // so many workers are stopped when they have made sure of their lease, and have not renamed yet
	stats          stats
}

// stats are what came of it.
type stats struct {
	published, fresh, known, placed, dead, takenOver, givenUp, late, early, paced, putOff, acks int

	last   time.Duration // when the last file was there
	stored int           // by then

	once, again, seen []time.Duration // lateness beside the download: from the report, without and with failures; all of it from the feed
	inRoom            []time.Duration // that a request waited in a worker
	faults            []string
}

func (s *sim) fault(format string, args ...any) {
	if len(s.stats.faults) < 10 {
		s.stats.faults = append(s.stats.faults, fmt.Sprintf("at %v: ", s.now)+fmt.Sprintf(format, args...))
	}
}

func (s *sim) at(at time.Duration, do func()) {
	s.seq++
	heap.Push(&s.coming, event{max(at, s.now), s.seq, do})
}

func (s *sim) after(wait time.Duration, do func()) { s.at(s.now+wait, do) }

// clock is the time of the queue.
func (s *sim) clock() time.Time { return t0.Add(s.now) }

// A process does nothing after it was killed, and what it has to do later while it is stopped.
type process struct {
	name    string
	life    int
	down    bool
	stopped time.Duration
}

// as does something as a process, if it lives still.
func (s *sim) as(p *process, at time.Duration, do func()) {
	life := p.life
	s.at(at, func() {
		switch {
		case p.life != life:
		case p.stopped > s.now:
			s.as(p, p.stopped, do)
		default:
			do()
		}
	})
}

// store has the queue store something for a process, which goes on when it has the answer. Values are stored one after
// the other, and what is asked while the queue is down is asked again until it is up.
func (s *sim) store(p *process, values int, change, then func()) {
	s.reads, s.writes = s.reads+values, s.writes+values
	cost := time.Duration(values) * s.write
	s.busy += cost
	s.freeAt = max(s.freeAt, s.upAt, s.now) + cost
	at := s.freeAt
	s.at(at, func() {
		change()
		s.as(p, s.now+toQueue, then)
	})
}

// run goes on until nothing is left to happen.
func (s *sim) run() {
	for len(s.coming) > 0 {
		e := heap.Pop(&s.coming).(event)
		s.now = e.at
		e.do()
	}
}

// A host counts its requests.
type host struct {
	pace     Pace
	last     time.Duration // of the last request
	told     time.Duration // until when it is to be left alone
	requests int
	second   int64
	inSecond int
	most     int // requests in one second
	flow     float64
	mostFlow float64 // bytes a second
	bytes    float64
	late     []time.Duration // its files
}

// asked is a request. It must not come before its turn, or while the host is to be left alone.
func (s *sim) asked(n int) {
	h := &s.hosts[n]
	gap := time.Duration(float64(time.Second) / s.rate)
	if s.rate > 0 && h.requests > 0 && s.now < h.last+gap-toQueue {
		s.stats.early++
	}
	if s.now < h.told {
		s.fault("host %d is asked, and is to be left alone until %v", n, h.told)
	}
	h.last = s.now
	h.requests++
	if second := int64(s.now / time.Second); second != h.second {
		h.second, h.inSecond = second, 0
	}
	h.inSecond++
	h.most = max(h.most, h.inSecond)
	if s.held > 0 && s.random.IntN(s.held) == 0 {
		h.pace.Hold(503, time.Minute, s.clock())
		h.told = s.now + time.Minute
	}
}

// A file is one that is watched, with what the queue knows of it.
type file struct {
	name      string
	host      int
	record    Record
	published time.Duration // the newest version
	reported  time.Duration // the newest version, for the first time
	version   int
	inPlace   int
	stage     uint64 // the fence of the folder in which it is made
	delivery  int    // of its message
	ackBy     time.Duration
	done      int           // the version of the last end that was right
	kind      Kind          // how the first try of this version ends
	took      time.Duration // to download this version
	troubled  bool          // it was tried again
	allowed   time.Duration // how late this version may be: for what waits of its host, schedule and leases
}

func newSim(shape shape, seed uint64) *sim {
	s := &sim{shape: shape, random: rand.New(rand.NewPCG(seed, 1)), files: make([]*file, shape.files), hosts: make([]host, shape.hosts)}
	weights, sum := make([]float64, shape.hosts), 0.0
	for i := range weights {
		sum += math.Pow(float64(i+1), -0.8)
		weights[i] = sum
	}
	for range shape.feeds {
		i, _ := slices.BinarySearch(weights, s.random.Float64()*sum)
		s.feedHost = append(s.feedHost, min(i, shape.hosts-1))
	}
	s.addWatchers()
	s.addWorkers()
	if s.updates > 0 {
		s.after(0, s.publish)
	}
	s.after(10*time.Second, s.sample)
	return s
}

// publish has a new version of one of the files appear in its feed, and so on.
func (s *sim) publish() {
	s.issue(s.random.IntN(len(s.files)))
	wait := time.Duration(s.random.ExpFloat64() / s.updates * float64(time.Hour))
	if s.now+wait < s.length {
		s.after(wait, s.publish)
	}
}

// issue has a new version of a file appear.
func (s *sim) issue(n int) {
	f := s.files[n]
	if f == nil {
		feed := n % s.feeds
		f = &file{name: fmt.Sprint(n), host: s.feedHost[feed]}
		s.files[n] = f
	}
	f.version++
	f.published, f.reported, f.troubled, f.allowed = s.now, 0, false, 0
	f.took, f.kind = s.fate()
	s.stats.published++
	s.groupOf(n%s.feeds).news(n%s.feeds, f)
}

// fate says how long a version takes to download, and how the first try ends.
func (s *sim) fate() (took time.Duration, kind Kind) {
	bytes := median * math.Exp(spread*s.random.NormFloat64())
	if s.took > 0 {
		return s.took, Right
	}
	took, kind = time.Duration(min(bytes, 20e9)/speed*float64(time.Second)), Right
	switch chance := s.random.IntN(2000); {
	case chance < 2000/hopeless:
		kind = Useless
	case chance < 2000/wrongEvery:
		kind = Wrong
	case chance < 2000/wrongEvery+2000/failedEvery:
		kind = Failed
	}
	return took, kind
}

// sample takes down how many jobs wait for a worker.
func (s *sim) sample() {
	s.depths = append(s.depths, float64(s.depth))
	if s.now < s.length {
		s.after(10*time.Second, s.sample)
	}
}
