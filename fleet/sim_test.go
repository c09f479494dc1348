package fleet

import (
	"container/heap"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// The simulation of a fleet has watchers, workers, hosts and a queue in virtual time. It runs one event after the
// other, without concurrency. The records, leases and paces are those of this package. The simulation has models of
// what fleet/jetstream and the commands add, with the same constants: a message for each record, a heartbeat, and turns
// taken ahead.

// A shape describes the size of a simulated fleet and its load.
type shape struct {
	feeds, files, hosts, groups int
	workers                     int
	updates                     float64       // per hour
	length                      time.Duration // time for which there are updates
	rate                        float64       // requests per second to each host from all workers
	bytes                       int64         // bytes per second from each host to all workers, 0 for no limit
	held                        int           // one in so many requests is answered with 503, 0 for none
	write                       time.Duration // time for which the queue writes a value to disk
	single                      bool          // the queue is one server and can be asked whether a lease is held

	lease, poll, answer time.Duration // answer is the time of each request
	requests            int           // per job
	took                time.Duration // time of each download; if zero, files have various sizes and some fail
}

// These are the assumptions of the model.
const (
	downloads   = 4   // concurrent downloads of a worker
	speed       = 8e6 // bytes per second of one download
	median      = 4e6 // bytes of a file
	spread      = 2   // sigma of the logarithm of sizes, for a mean of 30 MB
	toQueue     = time.Millisecond
	backAfter   = 5 * time.Second // time after which a killed process is started again
	ahead       = 200 * time.Millisecond
	flush       = time.Second // interval at which a watcher stores what it has seen
	mostAhead   = 100         // polls per second while a new watcher catches up
	wrongEvery  = 50          // one job in so many has a wrong digest at the first attempt
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

// A sim holds the state of a simulation.
type sim struct {
	shape
	random *rand.Rand
	now    time.Duration
	coming events
	seq    int

	freeAt, upAt   time.Duration // when the queue has stored everything so far, and when it is up again
	writes, reads  int
	busy           time.Duration
	ready          []*file // files whose message waits for a worker
	idle           []*slot
	files          []*file // by number, nil if not published yet
	feedHost       []int
	hosts          []host
	workers        []*worker
	groups         []*group
	depth, deepest int
	depths         []float64     // length of the queue every 10 seconds
	slack          time.Duration // allowed lateness of a file without a cause of its own, 0 for any
	stops          int
	stopNext       int // number of workers to stop between the check of their lease and the rename
	stats          stats
}

// stats are the results of a simulation.
type stats struct {
	published, fresh, known, placed, dead, takenOver, givenUp, late, early, paced, putOff, acks int

	last   time.Duration // when the last file was in place
	stored int           // number of values stored by then

	once, again, seen []time.Duration // lateness: since the report, without and with failures; since the feed
	inRoom            []time.Duration // time that a request waited in a worker
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

// clock returns the time of the queue.
func (s *sim) clock() time.Time { return t0.Add(s.now) }

// A process does nothing after it was killed, and nothing while it is stopped.
type process struct {
	name    string
	life    int
	down    bool
	stopped time.Duration
}

// as calls do at the time at if the process has not been killed by then. While the process is stopped, the call waits.
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

// store lets the queue store values one after the other, and then calls then as the process p. While the queue is down,
// the request waits.
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

// run handles events until there are none.
func (s *sim) run() {
	for len(s.coming) > 0 {
		e := heap.Pop(&s.coming).(event)
		s.now = e.at
		e.do()
	}
}

// A host counts its requests and bytes.
type host struct {
	pace     Pace
	last     time.Duration // of the last request
	told     time.Duration // held until then
	requests int
	second   int64
	inSecond int
	most     int // largest number of requests in one second
	flow     float64
	mostFlow float64 // largest number of bytes per second
	bytes    float64
	late     []time.Duration // lateness of its files
}

// asked counts a request to a host. It reports a fault if the host is held, and counts the request as early if it comes
// before its turn.
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

// A file is a watched file with its record in the queue.
type file struct {
	name      string
	host      int
	record    Record
	published time.Duration // the newest version
	reported  time.Duration // the newest version, for the first time
	version   int
	inPlace   int
	stage     uint64 // fence of the folder in which it is made
	delivery  int    // number of its message
	ackBy     time.Duration
	done      int           // last version that was done
	kind      Kind          // how the first attempt of this version ends
	took      time.Duration // download time of this version
	troubled  bool          // it was tried again
	allowed   time.Duration // allowed lateness of this version because of its host, the schedule and leases
}

func newSim(shape shape, seed uint64) *sim {
	s := &sim{shape: shape, random: rand.New(rand.NewPCG(seed, 1)), files: make([]*file, shape.files),
		hosts: make([]host, shape.hosts)}
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

// publish publishes a new version of a random file, and schedules the next one.
func (s *sim) publish() {
	s.issue(s.random.IntN(len(s.files)))
	wait := time.Duration(s.random.ExpFloat64() / s.updates * float64(time.Hour))
	if s.now+wait < s.length {
		s.after(wait, s.publish)
	}
}

// issue puts a new version of a file into its feed.
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

// fate chooses how long a version takes to download and how the first attempt ends.
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

// sample records how many jobs wait for a worker.
func (s *sim) sample() {
	s.depths = append(s.depths, float64(s.depth))
	if s.now < s.length {
		s.after(10*time.Second, s.sample)
	}
}
