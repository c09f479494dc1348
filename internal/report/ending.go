package report

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"braid/download"
	"braid/internal/option"
	"braid/source"
)

// ending is how a download ended or, if it is running, how it would end now.
type ending struct {
	at     time.Duration
	live   bool // the download is running
	result download.Result
	err    error
}

// nothing reports whether the download needed no data.
func (e *ending) nothing() bool { return e.result.AlreadyComplete || e.result.NotModified }

// part returns a time as a fraction of the total time.
func (e *ending) part(t time.Duration) float64 { return float64(t) / float64(max(e.at, 1)) }

// outcome returns the result in a word or two, and its CSS class.
func (e *ending) outcome() (class, text string) {
	failure, ok := errors.AsType[*download.Error](e.err)
	switch {
	case ok && failure.Kind == download.Interrupted:
		return "stopped", "interrupted"
	case e.err != nil:
		return "failed", "failed"
	case e.result.AlreadyComplete:
		return "done", "already complete"
	case e.result.NotModified:
		return "done", "not modified"
	case e.result.Proof.Verified():
		return "done", "complete and verified"
	case e.result.Proof.ByPieces():
		return "done", "complete, its pieces checked"
	}
	return "open", "complete, not verified"
}

// headline returns the result in one line. fetched is the number of received bytes, resumed that of an earlier run.
func (e *ending) headline(fetched, resumed int64) string {
	switch {
	case e.err != nil:
		return e.failure(fetched)
	case e.nothing():
		return "Nothing was transferred."
	}
	text := fmt.Sprintf("%s in %s", option.SizeText(e.result.Size), option.TimeText(e.at))
	if resumed > 0 {
		text += fmt.Sprintf(", %s of it from an earlier run", option.SizeText(resumed))
	}
	if e.at > 0 {
		text += fmt.Sprintf(": %s on average", option.RateText(MeanRate(fetched, e.result.Size-resumed, e.at)))
	}
	return text + fmt.Sprintf("; proof: %s.", e.result.Proof)
}

// MeanRate returns the mean speed of a download in bytes per second. Of the bytes that were fetched, at most missing
// count: fetching more did not make the download faster.
func MeanRate(fetched, missing int64, took time.Duration) float64 {
	if took <= 0 {
		return 0
	}
	return float64(max(0, min(fetched, missing))) / took.Seconds()
}

// failure describes why the download failed, and how many bytes are kept.
func (e *ending) failure(fetched int64) string {
	text := e.err.Error()
	failure, ok := errors.AsType[*download.Error](e.err)
	if ok && failure.Err != nil {
		text = failure.Err.Error()
	}
	after := "At once"
	if e.at >= time.Millisecond {
		after = "After " + option.TimeText(e.at)
	}
	text = option.Shorten(source.Escape(text), 300)
	text = fmt.Sprintf("%s: %s. %s were received in this run", after, text, option.SizeText(fetched))
	if ok && failure.Kept > 0 {
		return text + fmt.Sprintf("; %s are kept, and the same command continues from there.", option.SizeText(failure.Kept))
	}
	return text + "; nothing is kept."
}

// unasked returns the number of sources that got no request: they are not in asked, delivered nothing and did not fail.
func (e *ending) unasked(asked []*Mirror) (n int) {
	for _, s := range e.result.Sources {
		if s.Bytes == 0 && s.Err == nil && !slices.ContainsFunc(asked, func(m *Mirror) bool { return m.URL == s.URL }) {
			n++
		}
	}
	return n
}
