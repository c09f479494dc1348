package watch

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"braid/antenna"
	"braid/internal/option"
)

// States returns the texts that describe the states of s.Watches, in the same order.
func States(s *antenna.Status) []string {
	urls, left := map[string]int{}, map[string]string{}
	for i := range s.Watches {
		urls[s.Watches[i].Name]++
	}
	for i := range s.Follows {
		left[s.Follows[i].Name] = Ignored(&s.Follows[i])
	}
	states := make([]string, len(s.Watches))
	for i := range s.Watches {
		w := &s.Watches[i]
		states[i] = stateOf(w, urls[w.Name] > 1)
		if w.Release == nil || w.Release.Stage == "in-place" {
			states[i] += left[w.Name]
		}
	}
	return states
}

// stateOf describes the state of w. If the watch has several URLs, the text begins with the URL of w.
func stateOf(w *antenna.WatchStatus, several bool) string {
	about := ""
	if several {
		about = w.URL + ": "
	}
	if w.Release != nil {
		text, all := releaseState(w.Release)
		switch {
		case w.Running, all && w.Pending && w.Err != "":
			text = "version " + w.Release.Version
		case all:
			return text
		}
		about = text + ": "
	}
	switch {
	case w.Pending && w.Queued != "":
		return about + w.Queued
	case w.Running:
		return about + "its download or its hook is running"
	case w.Pending && w.Err != "":
		return fmt.Sprintf("%sfailed %s: %s", about, option.Count(w.Try, "time"), w.Err)
	case w.Pending:
		return about + "waits: " + w.Words
	case w.Last.Declined:
		return about + "its last version was removed from the queue; to download it, use braid watch run " + w.Name
	case w.Reason == antenna.Unfit, w.Reason == antenna.Excluded, w.Reason == antenna.Unread:
		return w.Words
	case !w.HaveCopy && w.Last.At.IsZero():
		return about + "nothing yet"
	case IsGone(w):
		return about + "the file no longer exists"
	}
	return about + cmp.Or(w.Last.Evidence, "unverified")
}

// releaseState describes the state of r. all reports that the text is complete.
func releaseState(r *antenna.ReleaseStatus) (text string, all bool) {
	text = "version " + r.Version
	switch r.Stage {
	case "waiting":
		return text + " is not ready yet: " + r.Why, true
	case "resting":
		return text + " is not ready yet, and is tried again after other versions: " + r.Why, true
	case "given-up":
		return text + " was given up after failures: " + r.Why, true
	case "unwanted":
		return text + " will not be downloaded", true
	case "in-place":
		if r.Newest != "" && r.Newest != r.Version {
			text += " (the newest is " + r.Newest + ")"
		}
		if r.Unreported != "" {
			text += " (" + r.Unreported + ")"
		}
	}
	return text, false
}

// Ignored describes the versions of f that are ignored because they cannot be ordered, and the tags that are ignored
// because they cannot be part of a URL. It returns "" if there are neither.
func Ignored(f *antenna.FollowStatus) (text string) {
	if f.Unordered > 0 {
		text = fmt.Sprintf("; %s cannot be ordered, and will not be downloaded, for example %s",
			option.Count(f.Unordered, "version"), f.Example)
	}
	if f.Invalid > 0 {
		text += fmt.Sprintf("; %s cannot be part of a URL, and will be ignored, for example %s",
			option.Count(f.Invalid, "tag"), f.InvalidTag)
	}
	return text
}

// NextTry returns when the update of w is tried next, or zero if the update has no such time: it is being handled, rests,
// or is in a queue.
func NextTry(w *antenna.WatchStatus) time.Time {
	if !w.Pending || w.Running || w.Queued != "" || w.Release != nil && w.Release.Stage == "resting" {
		return time.Time{}
	}
	return w.Next
}

// IsGone reports whether the last downloaded file of w no longer exists on disk. It reports false for an object, whose
// path is a URL.
func IsGone(w *antenna.WatchStatus) bool {
	_, err := os.Lstat(w.Last.Path)
	return filepath.IsAbs(w.Last.Path) && errors.Is(err, fs.ErrNotExist)
}
