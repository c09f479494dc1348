package jetstream

import "sync"

// mine are the jobs of this process by key.
type mine struct {
	mu     sync.Mutex
	claims map[string]*Claim // nil for a job about to be taken
}

// reserve records that this process is about to take the job with that key. It returns false if the process has the job.
func (m *mine) reserve(key string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, there := m.claims[key]; there {
		return false
	}
	m.claims[key] = nil
	return true
}

// take records that this process has taken the job of c.
func (m *mine) take(key string, c *Claim) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.claims[key] = c
}

func (m *mine) free(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.claims, key)
}

// all returns the jobs that this process has taken.
func (m *mine) all() (all []*Claim) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.claims {
		if c != nil {
			all = append(all, c)
		}
	}
	return all
}
