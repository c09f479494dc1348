//go:build realservers

package e2e

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestRealWatchService: what a service manager and Prometheus see of a watcher, over a reload, a wrong configuration,
// an end in the middle of a download and a new start.
func TestRealWatchService(t *testing.T) {
	t.Parallel()
	s := newWatchSet(t, hookLine)
	s.guard()
	began := time.Now()
	s.agent.begin()
	s.agent.logs(`msg="new version" watch=disk`)
	s.checkMetrics(began)

	good := s.agent.read("watch.toml")
	s.agent.write("watch.toml", good+"keeep = 1\n")
	s.agent.signal(syscall.SIGHUP)
	s.agent.hears("RELOADING=1\nMONOTONIC_USEC=")
	s.agent.hears("READY=1\nSTATUS=watching 2 feeds by 1 watch")
	s.agent.logs(`level=ERROR msg="the configuration is unchanged" where=watch.toml:\d+ error="watch.disk.keeep: unknown key"`)
	polls := s.requests("news .* 304")
	waitUntil(t, "polls by the old configuration", func() bool { return s.requests("news .* 304") >= polls+2 })

	s.agent.write("watch.toml", good+"[watch.copy]\nurl = \""+s.mirror+"/disk.iso\"\ndir = \"copies\"\nrequire = "+
		"\"none\"\ncheck-every = \"1h\"\n")
	s.agent.signal(syscall.SIGHUP)
	s.agent.hears("RELOADING=1\nMONOTONIC_USEC=")
	s.agent.hears("READY=1\nSTATUS=watching 2 feeds by 2 watches")
	s.agent.logs(`msg="new version" watch=copy`)
	s.checkMetrics(began)

	s.parkAndGoOn()
	if got := s.hookRuns(); len(got) != 2 || got[1] != s.runOf(1) {
		t.Errorf("programs were told %q", got)
	}
	s.agent.signal(syscall.SIGTERM)
	s.agent.ends(0)
}

// parkAndGoOn ends the watcher when it has some of the second version, and starts it again.
func (s *watchSet) parkAndGoOn() {
	s.t.Helper()
	const some = 2 << 20
	s.meter.reached = func() { s.agent.cmd.Process.Signal(syscall.SIGTERM) }
	before := s.meter.sum.Load()
	s.meter.mark.Store(before + some)
	s.publish(1)
	s.agent.hears("STOPPING=1")
	s.agent.ends(0)
	middle := s.meter.sum.Load()
	kept, err := strconv.Atoi(s.agent.logs(`msg=interrupted watch=disk .*kept=(\d+)`)[1])
	if version, ok := s.right(); !ok || version != 0 || kept < some/16 || err != nil { // the rest of it may have been on its way
		s.t.Errorf("version %d is in place (%v), %d bytes of the next are kept", version, ok, kept)
	}
	s.agent.begin()
	s.agent.logs(`msg="new version" watch=disk .*size=6291457`)
	if got := s.agent.logs(`msg=resumed watch=disk .*bytes=(\d+)`)[1]; got != strconv.Itoa(kept) {
		s.t.Errorf("%d bytes were kept, and %s resumed", kept, got)
	}
	if sent := s.meter.sum.Load() - middle; sent > watchedSize-int64(kept)+some/2 {
		s.t.Errorf("%d bytes were sent for a file of %d of which %d were here", sent, watchedSize, kept)
	}
}

// checkMetrics compares what Prometheus reads with what the servers have seen.
func (s *watchSet) checkMetrics(began time.Time) {
	s.t.Helper()
	url := s.agent.logs(`msg=metrics url=(\S+)`)[1]
	var m map[string]float64
	waitUntil(s.t, "metrics that agree with the servers", func() bool { // each second there are more polls
		before := s.requests("news ")
		m = scrape(s.t, url)
		agree := true
		for feed, path := range map[string]string{"lirs": `/antenna\.lirs`, "hina": `/hina\.di`} {
			polls := 0.0
			for _, result := range []string{"changed", "unchanged", "failed"} {
				polls += m[fmt.Sprintf(`braid_feed_polls_total{feed="%s",result="%s"}`, feed, result)]
			}
			changed := m[fmt.Sprintf(`braid_feed_polls_total{feed="%s",result="changed"}`, feed)]
			// An answer with a document may bring nothing new: one that was written again with what it had.
			agree = agree && polls == float64(s.requests("news GET "+path+" ")) && 0 < changed &&
				changed <= float64(s.requests("news GET "+path+" 200"))
		}
		return agree && s.requests("news ") == before
	})
	for name, want := range map[string][2]float64{
		`braid_feed_polls_total{feed="lirs",result="failed"}`:          {0, 0},
		`braid_feed_failures{feed="hina"}`:                             {0, 0},
		`braid_feed_bytes_total{feed="lirs"}`:                          {80, 300},
		`braid_watch_updates_total{watch="disk"}`:                      {1, 1},
		`braid_watch_downloads_total{watch="disk",result="changed"}`:   {1, 1},
		`braid_watch_downloads_total{watch="disk",result="failed"}`:    {0, 0},
		`braid_watch_bytes_total{watch="disk"}`:                        {watchedSize, float64(s.meter.sum.Load() + relayBuffer)},
		`braid_watch_last_success_timestamp_seconds{watch="disk"}`:     {seconds(began), seconds(time.Now())},
		`braid_feed_last_success_timestamp_seconds{feed="lirs"}`:       {seconds(began), seconds(time.Now())},
		`process_start_time_seconds`:                                   {seconds(began) - 1, seconds(time.Now())},
		`braid_watch_downloads_total{watch="disk",result="unchanged"}`: {0, 0},
	} {
		if got, ok := m[name]; !ok || got < want[0] || got > want[1] {
			s.t.Errorf("%s is %v (%v), want %v", name, got, ok, want)
		}
	}
}

func seconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }

// scrape reads metrics as Prometheus does.
func scrape(t *testing.T, url string) map[string]float64 {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"),
		"text/plain; version=0.0.4") {
		t.Fatalf("%v, %s, %v", err, resp.Status, resp.Header)
	}
	m, err := parseMetrics(string(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return m
}

var (
	metricHead   = regexp.MustCompile(`^# (HELP|TYPE) ([a-z_][a-z0-9_]*) (.+)$`)
	metricSample = regexp.MustCompile(`^([a-z_][a-z0-9_]*)(\{[a-z_]+="(?:[^"\\]|\\[\\"n])*"(?:,[a-z_]+="(?:[^"\\]|\\[\\"n])*")*\})? (\S+)$`)
)

// parseMetrics reads the text format 0.0.4 to the letter: each family has its HELP, its TYPE and then its samples, in one place.
func parseMetrics(text string) (map[string]float64, error) {
	m, helped, family := map[string]float64{}, map[string]bool{}, ""
	if !strings.HasSuffix(text, "\n") {
		return nil, fmt.Errorf("the last line has no end")
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if h := metricHead.FindStringSubmatch(line); h != nil {
			switch {
			case h[1] == "HELP" && helped[h[2]], h[1] == "TYPE" && (!helped[h[2]] || family == h[2]),
				h[1] == "TYPE" && h[3] != "counter" && h[3] != "gauge":
				return nil, fmt.Errorf("out of order: %q", line)
			case h[1] == "TYPE":
				family = h[2]
			}
			helped[h[2]] = true
			continue
		}
		s := metricSample.FindStringSubmatch(line)
		if s == nil || s[1] != family {
			return nil, fmt.Errorf("no sample of %s: %q", family, line)
		}
		value, err := strconv.ParseFloat(s[3], 64)
		if _, twice := m[s[1]+s[2]]; err != nil || twice {
			return nil, fmt.Errorf("twice, or no value: %q", line)
		}
		m[s[1]+s[2]] = value
	}
	return m, nil
}
