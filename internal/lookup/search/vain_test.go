package search_test

import (
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"braid/internal/lookup/search"
)

// TestVain: files of a folder that is known to have nothing about them need no search, and get the places of one.
func TestVain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		vain := func(w *site, shared *search.Folders, file, user string, anew bool) bool {
			t.Helper()
			s, ok := search.New(w, shared, nil, at(t, file), user)
			if !ok {
				t.Fatalf("nowhere to look for %s", file)
			}
			s.Anew = anew
			w.take()
			is := s.Vain()
			if asked := w.take(); asked != "" {
				t.Errorf("%s: asked for %s", file, asked)
			}
			if places := s.Found.Places; is && (!s.Early || !reflect.DeepEqual(places, run(t, w, shared, file, user).Places)) {
				t.Errorf("%s: %v", file, places)
			}
			return is
		}
		for _, index := range []bool{false, true} {
			w, shared := &site{pages: map[string]string{}, index: index}, new(search.Folders)
			for _, file := range []string{"a", "b", "c"} {
				if vain(w, shared, file, "", false) {
					t.Errorf("index: %v: vain before %s was looked for", index, file)
				}
				time.Sleep(time.Second)
				run(t, w, shared, file, "")
			}
			time.Sleep(time.Second)
			if !vain(w, shared, "d", "", false) {
				t.Errorf("index: %v: not vain, though the folder has nothing", index)
			}
			if vain(w, shared, "d", "", true) || vain(w, shared, "d", "user", false) ||
				vain(w, shared, "http://b.example/pub/d", "", false) {
				t.Errorf("index: %v: vain, though this was not looked at", index)
			}
			time.Sleep(10 * time.Second)
			if vain(w, shared, "d", "", false) {
				t.Errorf("index: %v: vain after ten seconds", index)
			}
		}
	})
}

// TestVainLists: a folder with an index of the file, or with a list, is searched.
func TestVainLists(t *testing.T) {
	for name, w := range map[string]*site{
		"listed in the index": {pages: map[string]string{"/pub/d": "d"}, index: true},
		"a list":              {pages: map[string]string{"/pub/SHA256SUMS": strings.Repeat("0", 64) + "  x\n"}},
	} {
		shared := new(search.Folders)
		for _, file := range []string{"a", "b", "c"} {
			run(t, w, shared, file, "")
		}
		s, ok := search.New(w, shared, nil, at(t, "d"), "")
		if !ok || s.Vain() {
			t.Errorf("%s: vain", name)
		}
	}
}
