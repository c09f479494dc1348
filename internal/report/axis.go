package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"braid/internal/option"
)

// A tick is a mark on an axis, or a line across the pictures: At is its place, as a percentage of the axis.
type tick struct {
	At, Text, Title string
	Last            bool // so near to the end that its text has to end there
}

// percentText writes a place between 0 and 1 as a percentage, in a form that SVG takes.
func percentText(x float64) string {
	return strconv.FormatFloat(math.Round(min(max(x, 0), 1)*1e4)/1e2, 'f', -1, 64) + "%"
}

// timeSteps are distances between the ticks of a time axis that people can count with.
var timeSteps = []time.Duration{
	time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 5 * time.Second,
	10 * time.Second, 15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute,
	15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

const mostTicks = 8

// timeTicks divide the time from 0 to end.
func timeTicks(end time.Duration) (ticks []tick) {
	i := 0
	for i < len(timeSteps)-1 && end/timeSteps[i] > mostTicks {
		i++
	}
	step := timeSteps[i]
	for end/step > mostTicks {
		step *= 2
	}
	for t := time.Duration(0); t <= end; t += step {
		at := float64(t) / float64(end)
		ticks = append(ticks, tick{At: percentText(at), Text: tickText(t, step), Last: at > 0.93})
	}
	return ticks
}

// tickText writes a time as exactly as the distance of the ticks demands.
func tickText(t, step time.Duration) string {
	switch {
	case t == 0:
		return "0"
	case step < 100*time.Millisecond:
		return fmt.Sprintf("%d ms", t.Milliseconds())
	case step < time.Minute && t < time.Minute:
		return strconv.FormatFloat(t.Seconds(), 'f', -1, 64) + " s"
	}
	return strings.TrimSuffix(strings.TrimSuffix(option.TimeText(t), " 0 s"), " 0 min")
}

// byteTicks divide an axis that goes from 0 to top bytes, upwards. All are in one unit; suffix follows its name.
func byteTicks(top float64, suffix string) (ticks []tick) {
	unit := 1.0
	for top >= unit*1024 {
		unit *= 1024
	}
	_, name, _ := strings.Cut(option.SizeText(int64(unit)), " ")
	step := byteStep(top/unit, unit > 1)
	for y := 0.0; y <= top/unit*1.0001; y += step {
		text := strconv.FormatFloat(y, 'f', -1, 64) + " " + name + suffix
		if y == 0 {
			text = "0"
		}
		ticks = append(ticks, tick{At: percentText(1 - y*unit/top), Text: text})
	}
	return ticks
}

// byteStep is a distance between ticks such that there are a few of them.
func byteStep(top float64, parts bool) float64 {
	for _, step := range []float64{0.25, 0.5, 1, 2, 5, 10, 20, 25, 50, 100, 200, 250} {
		if top/step <= 5 && (parts || step >= 1) {
			return step
		}
	}
	return 500
}
