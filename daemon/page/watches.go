package page

import (
	"encoding/json"
	"net/http"
)

// A Watch is the state of a watch that runs in the daemon.
type Watch struct {
	Name string `json:"name"`
	// Version is the version in place, and Newest the newest version that the feeds report. Only a watch that follows
	// releases has versions.
	Version string `json:"version,omitempty"`
	Newest  string `json:"newest,omitempty"`
	// States has the states of the watch's URLs, the most important first. The handler sets Unshown to the number of
	// states that the page does not show.
	States  []WatchState `json:"states"`
	Unshown int          `json:"unshown,omitempty"`
}

// A WatchState is the state of a URL of a watch.
type WatchState struct {
	Text string `json:"text"`
	Next int64  `json:"next"` // seconds until the next attempt; -1: no attempt is planned
}

// mostWatches limits the number of watches shown, and mostStates the number of states shown for each.
const mostWatches, mostStates = 500, 10

// watches answers GET /watches. All texts in the answer are escaped.
func (h *Handler) watches(w http.ResponseWriter, r *http.Request) {
	if !h.Admit(w, r) {
		return
	}
	all, err := h.Watches(r.Context())
	if err != nil {
		http.Error(w, "The state of the watches cannot be read now.", http.StatusServiceUnavailable)
		return
	}
	n := min(len(all), mostWatches)
	v := struct {
		Watches []Watch `json:"watches"`
		Unshown int     `json:"unshown,omitempty"`
	}{make([]Watch, n), len(all) - n}
	for i, of := range all[:n] {
		v.Watches[i] = Watch{
			Name: text(of.Name, mostName), Version: text(of.Version, mostName), Newest: text(of.Newest, mostName),
			States: []WatchState{}, Unshown: max(0, len(of.States)-mostStates),
		}
		for _, s := range of.States[:len(of.States)-v.Watches[i].Unshown] {
			v.Watches[i].States = append(v.Watches[i].States, WatchState{text(s.Text, mostText), s.Next})
		}
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v)
}
