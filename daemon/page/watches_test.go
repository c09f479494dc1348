package page_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"braid/daemon/page"
)

// watched starts a server with the page of a daemon whose watches are those that states returns.
func watched(t testing.TB, states func() ([]page.Watch, error)) *httptest.Server {
	t.Helper()
	e, mux := newEngine(), http.NewServeMux()
	control := newControl(t, e)
	mux.Handle("/jsonrpc", control)
	mux.Handle("/", page.New(e, page.Options{Admit: control.Admit, Every: 50 * time.Millisecond,
		Watches: func(context.Context) ([]page.Watch, error) { return states() }}))
	return serve(t, mux)
}

// someWatches returns watches in several states. A feed chose the name of one version.
func someWatches() []page.Watch {
	return []page.Watch{
		{Name: "disk", States: []page.WatchState{{Text: "sha-256 from Digest over https", Next: -1}}},
		{Name: "evil", Version: "<img src=x onerror=\"window.hacked=1\">\u202e", Newest: "<b>2</b>"},
		{Name: "gh", Version: "2.1", Newest: "2.2", States: []page.WatchState{
			{Text: "version 2.2 is not ready yet: gh_2.2_linux_amd64.tar.gz: status 404 Not Found", Next: 7199},
			{Text: "version 2.1 (the newest is 2.2): sha-256 from gh_2.1_checksums.txt", Next: -1},
		}},
		{Name: "none", States: []page.WatchState{{Text: "the settings exclude all 3 versions in the feeds, for " +
			"example 3.0-rc1", Next: -1}}},
	}
}

// TestWatchesShown checks that clients with the token get the states of the watches, in escaped text and limited in
// number, and that a daemon without a watcher has none.
func TestWatchesShown(t *testing.T) {
	list, failed := someWatches(), error(nil)
	for len(list[0].States) < 13 {
		list[0].States = append(list[0].States, page.WatchState{Text: strings.Repeat("x", 5000)})
	}
	list[3].States[0].Next = 0
	s := watched(t, func() ([]page.Watch, error) { return list, failed })
	if resp := get(t, t.Context(), site(t, newEngine()).URL+"/watches", "Authorization",
		"Bearer "+token); resp.StatusCode != http.StatusNotFound {
		t.Errorf("without a watcher: %s", resp.Status)
	}
	if resp := get(t, t.Context(), s.URL+"/watches"); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("without the token: %s", resp.Status)
	}
	type view struct {
		Watches []struct {
			Name, Version, Newest string
			States                []struct {
				Text string
				Next int64
			}
			Unshown int
		}
		Unshown int
	}
	ask := func() (v view) {
		t.Helper()
		resp := get(t, t.Context(), s.URL+"/watches", "Authorization", "Bearer "+token)
		if err := json.NewDecoder(resp.Body).Decode(&v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	v := ask()
	if len(v.Watches) != 4 || v.Unshown != 0 {
		t.Fatalf("the watches are %+v", v)
	}
	disk, evil, gh, none := v.Watches[0], v.Watches[1], v.Watches[2], v.Watches[3]
	if len(disk.States) != 10 || disk.Unshown != 3 || len(disk.States[9].Text) > 1100 || disk.States[0].Next != -1 {
		t.Errorf("many long states are %+v", disk)
	}
	if !strings.HasSuffix(evil.Version, `>\u202e`) {
		t.Errorf("the version is %q", evil.Version)
	}
	if gh.Version != "2.1" || gh.Newest != "2.2" || len(gh.States) != 2 || gh.States[0].Next != 7199 ||
		!strings.HasPrefix(gh.States[0].Text, "version 2.2 is not ready yet: ") {
		t.Errorf("a release watch is %+v", gh)
	}
	if none.Version != "" || none.Newest != "" || none.States[0].Next != 0 ||
		!strings.HasPrefix(none.States[0].Text, "the settings exclude") {
		t.Errorf("a watch without a version is %+v", none)
	}
	for i := range 600 {
		list = append(list, page.Watch{Name: fmt.Sprint("w", i)})
	}
	if v := ask(); len(v.Watches) != 500 || v.Unshown != 104 {
		t.Errorf("%d watches are shown, and %d not", len(v.Watches), v.Unshown)
	}
	failed = errors.New("the watcher has ended")
	if resp := get(t, t.Context(), s.URL+"/watches", "Authorization",
		"Bearer "+token); resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("without a status: %s", resp.Status)
	}
}
