package state

import (
	"math"
	"time"
)

// AllHosts is used in place of a host for the highest total speed of all hosts.
const AllHosts = "*"

const (
	maxRate = 1e12 // bytes a second
	maxRTT  = time.Minute
)

var speeds = kind{folder: "hosts", most: 1000, old: 14 * day, due: "00", hint: true}

// A Speed is the speed of a host in earlier downloads. It is used at the beginning of a download, until speeds are measured.
type Speed struct {
	Rate float64       // bytes a second; 0: unknown, or the host failed
	RTT  time.Duration // 0: unknown
}

// measured is a Speed with the time of its measurement.
type measured struct {
	Speed
	at    time.Time
	dirty bool // not on disk yet
}

// A speedRecord is the entry of a Speed.
type speedRecord struct {
	V    int
	Rate int64         `json:",omitempty"`
	RTT  time.Duration `json:",omitempty"`
}

// Speed returns the known speed of a host, given as host:port.
func (s *Store) Speed(host string) Speed {
	if s == nil || s.PinsOnly {
		return Speed{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.host(host).Speed
}

// Learn records the speed of a host. The stored rate is the mean of the old and the new rate, so that one unusual run
// has little effect, except that a higher rate of AllHosts replaces the old one. After a failure, the rate is 0, and
// the next rate is stored unchanged.
func (s *Store) Learn(host string, now Speed) {
	if s == nil || s.PinsOnly || host == AllHosts && now.Rate <= 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.host(host)
	m := measured{now.sane(), time.Now(), true}
	if before.Rate > 0 && m.Rate > 0 && (host != AllHosts || before.Rate > m.Rate) {
		m.Rate = (before.Rate + m.Rate) / 2
	}
	if m.RTT == 0 {
		m.RTT = before.RTT
	}
	s.hosts[host] = m
}

// Save writes the speeds that Learn recorded, and ignores errors. Pins and versions are written as they are recorded.
func (s *Store) Save() {
	if s == nil {
		return
	}
	s.saving.Lock()
	defer s.saving.Unlock()
	s.mu.Lock()
	learned := s.learned()
	s.mu.Unlock()
	s.write(learned) // without mu, so that Speed and Learn do not wait for a slow disk
}

func (s *Store) write(learned map[string]measured) {
	for host, m := range learned {
		s.put(speeds, nameOf(host), speedRecord{format, int64(m.Rate), m.RTT})
	}
}

// learned returns the speeds learned since the last call. The caller holds mu.
func (s *Store) learned() map[string]measured {
	learned := map[string]measured{}
	for host, m := range s.hosts {
		if m.dirty {
			learned[host] = m
			m.dirty = false
			s.hosts[host] = m
		}
	}
	return learned
}

// host returns the known speed of the host called name. It reads the entry on first use. The caller holds mu.
func (s *Store) host(name string) measured {
	m, ok := s.hosts[name]
	if !ok {
		var r speedRecord
		if at, known := s.get(speeds, nameOf(name), &r); known {
			m = measured{Speed: Speed{float64(r.Rate), r.RTT}.sane(), at: at}
		}
		if len(s.hosts) >= speeds.most {
			s.write(s.learned())
			clear(s.hosts)
		}
		if s.hosts == nil {
			s.hosts = map[string]measured{}
		}
		s.hosts[name] = m
	}
	if time.Since(m.at) >= speeds.old {
		return measured{}
	}
	return m
}

// sane returns sp with values limited to the possible range.
func (sp Speed) sane() Speed {
	if math.IsNaN(sp.Rate) {
		sp.Rate = 0
	}
	return Speed{min(max(sp.Rate, 0), maxRate), min(max(sp.RTT, 0), maxRTT)}
}
