package download_test

import (
	"net/url"
	"strconv"
	"testing"
	"time"

	"braid/download"
	"braid/internal/test/mirrortest"
	"braid/source/httpsource"
)

// BenchmarkStaleMirror measures the cost of a mirror with an older version of the same size, one of eight and
// for a file of 300 MiB, as a multiple of the time of the same download without it: rule 40. Run it with
// -benchtime 10x.
func BenchmarkStaleMirror(b *testing.B) {
	const size, rate = 300 * mib, 8 * mib
	day := time.Unix(1e9, 0)
	fresh := []mirrortest.Option{mirrortest.Modified(day.AddDate(0, 0, 1)), mirrortest.ETag(`"v2"`)}
	five := mirrortest.Corrupt(10, 61*mib, 123*mib, 177*mib, 290*mib)
	large := mirrortest.Corrupt(every(1, mib)...)
	for _, tt := range []struct {
		name         string
		good, stale  []mirrortest.Option
		wrong        mirrortest.Option
		wrongContent bool
	}{
		{"none", fresh, fresh, mirrortest.Corrupt(), false},
		{"date", fresh, []mirrortest.Option{mirrortest.Modified(day), mirrortest.ETag(`"v2"`)}, five, false},
		{"tag", fresh, []mirrortest.Option{mirrortest.ETag(`"v1"`)}, five, false},
		{"digest", []mirrortest.Option{mirrortest.Digest()}, nil, five, false},
		{"nothing", nil, nil, five, false},
		{"nothing-1MiB", nil, nil, large, false},
		{"nothing-all", nil, nil, nil, true},
	} {
		b.Run(tt.name, func(b *testing.B) {
			var links []string
			right := mirrortest.Generate(size, 7).Bytes()
			for i := range 8 {
				options, body := tt.good, right
				if i == 3 {
					if options = tt.stale; tt.wrongContent {
						body = mirrortest.Generate(size, 8).Bytes()
					} else {
						options = append(options[:len(options):len(options)], tt.wrong)
					}
				}
				m := mirrortest.New(b, body, append([]mirrortest.Option{mirrortest.Rate(rate)}, options...)...)
				links = append(links, m.URL)
			}
			origin := mirrortest.New(b, right,
				append([]mirrortest.Option{mirrortest.Rate(rate), mirrortest.Mirrors(links...)}, fresh...)...)
			origin.Set(mirrortest.Digest())
			var worst time.Duration
			for range b.N {
				http := &httpsource.Client{}
				c := download.Client{HTTP: http}
				u, err := url.Parse(origin.URL)
				if err != nil {
					b.Fatal(err)
				}
				res, err := c.Get(b.Context(), download.Request{URL: u, Dir: b.TempDir()})
				http.CloseIdle()
				if err != nil {
					b.Fatal(err)
				}
				worst = max(worst, res.Elapsed)
				b.Log(strconv.Itoa(int(res.Compared>>20)), "MiB compared,", res.Elapsed)
			}
			b.ReportMetric(worst.Seconds(), "worst-s")
		})
	}
}
