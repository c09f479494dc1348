package state

import (
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"
)

func TestSpeedsAcrossRuns(t *testing.T) {
	s := fresh(t)
	s.Learn("a.example:80", Speed{4e6, 40 * time.Millisecond})
	s.Learn(AllHosts, Speed{Rate: 9e6})
	if got := s.again().Speed("a.example:80"); got != (Speed{}) {
		t.Errorf("before it is saved: %v", got)
	}
	s.Save()
	s = s.again()
	for host, want := range map[string]Speed{"a.example:80": {4e6, 40 * time.Millisecond}, AllHosts: {Rate: 9e6},
		"b.example:80": {}} {
		if got := s.Speed(host); got != want {
			t.Errorf("%s: %v, want %v", host, got, want)
		}
	}
}

func TestSpeedsAreMixed(t *testing.T) {
	s := &Store{}
	for _, tt := range []struct {
		host      string
		now, want Speed
	}{
		{"a:80", Speed{4e6, time.Millisecond}, Speed{4e6, time.Millisecond}},
		{"a:80", Speed{2e6, 0}, Speed{3e6, time.Millisecond}},
		{"a:80", Speed{}, Speed{0, time.Millisecond}}, // it failed
		{"a:80", Speed{Rate: 2e6}, Speed{2e6, time.Millisecond}},
		{"b:80", Speed{math.NaN(), -1}, Speed{}},
		{"b:80", Speed{math.Inf(1), time.Hour}, Speed{maxRate, maxRTT}},
		{AllHosts, Speed{Rate: 2e6}, Speed{Rate: 2e6}},
		{AllHosts, Speed{Rate: 6e6}, Speed{Rate: 6e6}}, // a higher value replaces a lower one
		{AllHosts, Speed{Rate: 2e6}, Speed{Rate: 4e6}},
		{AllHosts, Speed{}, Speed{Rate: 4e6}},
	} {
		s.Learn(tt.host, tt.now)
		if got := s.Speed(tt.host); got != tt.want {
			t.Errorf("%s did %v: %v, want %v", tt.host, tt.now, got, tt.want)
		}
	}
}

// A speed is forgotten after two weeks, even in a program that runs as long.
func TestSpeedsGetOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Store{}
		s.Learn("a:80", Speed{Rate: 4e6})
		time.Sleep(speeds.old - 1)
		if got := s.Speed("a:80").Rate; got != 4e6 {
			t.Errorf("too early: %v", got)
		}
		time.Sleep(time.Nanosecond)
		if got := s.Speed("a:80").Rate; got != 0 {
			t.Errorf("still known: %v", got)
		}
		s.Learn("a:80", Speed{Rate: 2e6})
		if got := s.Speed("a:80").Rate; got != 2e6 {
			t.Errorf("mixed with what is old: %v", got)
		}
	})
}

// Two programs that end at the same time lose only what both learned.
func TestSpeedsOfTwoPrograms(t *testing.T) {
	a := fresh(t)
	b := a.again()
	a.Learn("a:80", Speed{Rate: 1e6})
	b.Learn("b:80", Speed{Rate: 2e6})
	b.Speed("a:80")
	a.Save()
	b.Save()
	s := a.again()
	if a, b := s.Speed("a:80").Rate, s.Speed("b:80").Rate; a != 1e6 || b != 2e6 {
		t.Errorf("%v, %v", a, b)
	}
}

// Memory and disk are limited, and the last learned speeds are kept.
func TestSpeedsAreBounded(t *testing.T) {
	s := fresh(t)
	var last string
	for i := range 2*speeds.most + 500 {
		last = fmt.Sprintf("h%d:80", i)
		s.Learn(last, Speed{Rate: 1e6})
		if len(s.hosts) > speeds.most {
			t.Fatalf("%d hosts", len(s.hosts))
		}
	}
	s.Save()
	if got := len(entries(t, s)); got < speeds.most || got > 2*speeds.most {
		t.Errorf("%d entries", got)
	}
	for _, s := range []*Store{s, s.again()} {
		if got := s.Speed(last).Rate; got != 1e6 {
			t.Errorf("the last one: %v", got)
		}
	}
}
