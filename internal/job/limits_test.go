package job

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"braid/internal/option"
)

// Limits change at their times, those that were added later, too, and no more once that is over. A rate for all day
// needs no timer.
func TestLimitsFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // which begins at midnight UTC
		var told []string
		rates := func(text string) (v option.RatesValue) {
			if err := v.Set(text); err != nil {
				t.Fatal(err)
			}
			return v
		}
		limit := func(name, text string) (option.RatesValue, func(int64)) {
			last := int64(-1)
			return rates(text), func(bytes int64) {
				if bytes != last {
					told = append(told, fmt.Sprint(time.Now().UTC().Format("15:04 "), name, bytes>>10))
					last = bytes
				}
			}
		}
		begin := time.Now()
		at := func(d time.Duration) string { return begin.Add(d).Format("15:04") }
		var p limits
		if p.Of(rates("0")) != nil || p.Of(rates("09:00-10:00 0, 0")) != nil || p.Of(rates("1K")) == nil {
			t.Error("what is no limit")
		}
		p.Add(limit("a", at(time.Hour)+"-"+at(2*time.Hour)+" 1K, 5K"))
		stop := p.Follow()
		time.Sleep(90 * time.Minute)
		p.Add(limit("b", at(100*time.Minute)+"-"+at(110*time.Minute)+" 2K"))
		time.Sleep(time.Hour)
		stop()
		time.Sleep(48 * time.Hour)
		if got, want := strings.Join(told, ", "), "00:00 a5, 01:00 a1, 01:30 b0, 01:40 b2, 01:50 b0, 02:00 a5"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}
