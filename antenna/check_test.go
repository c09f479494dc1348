package antenna

import (
	"strings"
	"testing"
	"time"
	"unsafe"

	"braid/address"
	"braid/antenna/feed"
)

func TestCheck(t *testing.T) {
	f := Feed{Name: "f", URL: "https://h.example/f"}
	w := Watch{Name: "w", URL: "https://h.example/w"}
	for _, tt := range []struct {
		name string
		a    *Antenna
		want string // part of the error
	}{
		{"nothing", &Antenna{}, ""},
		{"good", &Antenna{Feeds: []Feed{f}, Watches: []Watch{w}}, ""},
		{"a feed and a watch of one name", &Antenna{Feeds: []Feed{f},
			Watches: []Watch{{Name: "f", URL: w.URL, CheckEvery: time.Hour}}}, ""},
		{"a feed twice", &Antenna{Feeds: []Feed{f, f}}, "feed f: another feed has the same name"},
		{"a feed twice by its masked URL", &Antenna{Feeds: []Feed{{URL: "https://h.example/?k=1"},
			{URL: "https://h.example/?k=2"}}}, "k=***: another feed"},
		{"a watch twice", &Antenna{Watches: []Watch{w, w}}, "watch w: another watch has the same name"},
		{"a watch of no feed", &Antenna{Watches: []Watch{{URL: w.URL, Feeds: []string{"g"}}}}, `no feed "g"`},
		{"a path", &Antenna{Feeds: []Feed{{URL: "/etc/passwd"}}}, "host"},
		{"a scheme", &Antenna{Watches: []Watch{{URL: "ftp://h.example/"}}}, "scheme"},
		{"garbage", &Antenna{Watches: []Watch{{URL: "https://h.example/%zz"}}}, "watch an invalid URL"},
		{"too often", &Antenna{Feeds: []Feed{{URL: f.URL, Every: time.Millisecond}}}, "1ms"},
		{"checked too often", &Antenna{Watches: []Watch{{URL: w.URL, CheckEvery: time.Millisecond}}}, "1ms"},
		{"bounds the wrong way", &Antenna{Feeds: []Feed{{URL: f.URL, Min: time.Hour, Max: time.Minute}}}, "1h0m0s"},
	} {
		err := tt.a.Check()
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
		if tt.want == "" {
			continue
		}
		if run := tt.a.Watch(t.Context(), nil); run == nil || run.Error() != err.Error() {
			t.Errorf("%s: runs with %v", tt.name, run)
		}
	}
}

func TestBounds(t *testing.T) {
	m := time.Minute
	for _, tt := range []struct {
		f    Feed
		want paceBounds
	}{
		{Feed{}, paceBounds{First: 5 * m, Min: 5 * m, Max: 60 * m}},
		{Feed{Every: 10 * m}, paceBounds{First: 10 * m, Min: 10 * m, Max: 10 * m}},
		{Feed{Every: 10 * m, Max: 30 * m}, paceBounds{First: 10 * m, Min: 5 * m, Max: 30 * m}},
		{Feed{Max: 2 * m}, paceBounds{First: 2 * m, Min: 2 * m, Max: 2 * m}},
		{Feed{Min: 90 * m}, paceBounds{First: 90 * m, Min: 90 * m, Max: 90 * m}},
		{Feed{Min: m, Max: 90 * m}, paceBounds{First: m, Min: m, Max: 90 * m}},
	} {
		if got := tt.f.bounds(); got != tt.want {
			t.Errorf("%+v: %+v", tt.f, got)
		}
	}
}

func TestKindText(t *testing.T) {
	for k := Auto; k <= Page; k++ {
		text, err := k.MarshalText()
		var back Kind
		if err != nil || back.UnmarshalText(text) != nil || back != k {
			t.Errorf("%v becomes %v", k, back)
		}
	}
	if new(Kind).UnmarshalText([]byte("rss3")) == nil {
		t.Error("rss3 is a kind")
	}
}

// TestKinds checks that each kind of feed is recognized, and that the error for another text escapes it.
func TestKinds(t *testing.T) {
	l, err := (&Antenna{Watches: []Watch{{URL: fileURL}}}).newLoop()
	if err != nil {
		t.Fatal(err)
	}
	const day = "2026-11-10T00:00:00Z"
	for _, text := range []string{
		"HINA/2.2beta\r\nUser-Agent: x\r\n\r\nURL: " + fileURL + "\r\n\r\n", lirsLine(fileURL, time.Now(), time.Now(), 5),
		"@FILE { " + fileURL + "\nFile-Size{1}:\t5\n}\n",
		"<rss version='2.0'><channel><item><link>" + fileURL + "</link></item></channel></rss>",
		"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>" + fileURL + "</loc><lastmod>" + day +
			"</lastmod></url></urlset>",
		`{"version":"https://jsonfeed.org/version/1.1","items":[{"id":"1","url":"` + fileURL + `","date_published":"` +
			day + `"}]}`,
	} {
		task := &task{feed: &Feed{Limits: Limits{}.orDefault()}}
		for _, body := range []string{text, zipped(text), zipped(zipped(text))} {
			k, err := l.poller.read(t.Context(), task, strings.NewReader(body), 5, address.Public)
			if err != nil || len(k.matches) == 0 || k.matches[0].record.Received != 5 || k.matches[0].url != fileURL {
				t.Errorf("%.20q: %+v, %v", text, k, err)
			}
		}
	}
	// A configured kind is used without looking at the text, which may begin with any number of blank lines in a
	// hina-di feed.
	hina := strings.Repeat("\r\n", 20_000) + "URL: " + fileURL + "\r\n\r\n"
	for kind, want := range map[Kind]int{Auto: 0, Kind(feed.HinaDI): 1} {
		k, _ := l.poller.read(t.Context(), &task{feed: &Feed{Kind: kind, Limits: Limits{}.orDefault()}},
			strings.NewReader(zipped(zipped(hina))), 5, address.Public)
		if len(k.matches) != want {
			t.Errorf("%v: %+v", kind, k)
		}
	}
	task := &task{feed: &Feed{Limits: Limits{}.orDefault()}}
	if _, err := l.poller.read(t.Context(), task, strings.NewReader("<html>\x1b"), 0, address.Public); err == nil ||
		strings.Contains(err.Error(), "\x1b") {
		t.Errorf("a page: %v", err)
	}
}

// TestSlim checks that the strings of a kept record do not share memory with the feed, which is read in large pieces.
func TestSlim(t *testing.T) {
	text := strings.Repeat("x", 1<<20)
	r := feed.Record{URL: text[:10], Tag: text[:3], Title: text[5:9], Method: []string{text[:4]},
		Fields: []feed.Field{{Name: "a", Value: text}}, Keywords: []string{text}}
	slim := slimOf(r)
	if slim.URL != r.URL || slim.Title != r.Title || slim.Method[0] != "xxxx" || slim.Fields != nil || slim.Keywords != nil {
		t.Errorf("%+v", slim)
	}
	for _, pair := range [][2]string{{r.URL, slim.URL}, {r.Title, slim.Title}, {r.Tag, slim.Tag}, {r.Method[0], slim.Method[0]}} {
		if unsafe.StringData(pair[0]) == unsafe.StringData(pair[1]) {
			t.Errorf("%q holds on to the feed", pair[0])
		}
	}
	if sumOf(&r) != sumOf(&slim) {
		t.Error("it says something else")
	}
	other := slim
	if other.Detected = 7; sumOf(&other) != sumOf(&slim) {
		t.Error("to be seen again is a change")
	}
	for _, change := range []func(r *feed.Record){
		func(r *feed.Record) { r.LastModified = 1 }, func(r *feed.Record) { r.Size = 1 }, func(r *feed.Record) { r.MD5 = "1" },
		func(r *feed.Record) { r.URL = "1" }, func(r *feed.Record) { r.Virtual = "1" },
		func(r *feed.Record) { r.Tag = "1" }, func(r *feed.Record) { r.Tag = "" }, func(r *feed.Record) { r.PreRelease = true },
	} {
		other := slim
		if change(&other); sumOf(&other) == sumOf(&slim) {
			t.Errorf("no change: %+v", other)
		}
	}
}
