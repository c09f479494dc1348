package fleet

import "testing"

// TestReportAgain checks that a release whose place has a link is a job again when it is reported after it was done: the
// link may lead to another version by then.
func TestReportAgain(t *testing.T) {
	for link, want := range map[string]News{"": Duplicate, "latest": Fresh} {
		var r Record
		j := Job{Name: "tool_1.2", URIs: []string{"https://example.org/tool_1.2"}, Follows: &Follows{Version: "1.2", Link: link}}
		if _, err := r.Report(j, t0); err != nil {
			t.Fatal(err)
		}
		r.State = Done
		if news, err := r.Report(j, t0); news != want || err != nil {
			t.Errorf("with the link %q it is %v, %v", link, news, err)
		}
	}
}
