package partfile

import "testing"

// Who waits for much is not woken for little, and who waits for the least is not made to wait for the others.
func TestWokenForEnough(t *testing.T) {
	l := newLedger(writing)
	closed := func(ch <-chan struct{}) bool {
		select {
		case <-ch:
			return true
		default:
			return false
		}
	}
	_, much, _ := l.look(9)
	for end := int64(1); end <= 9; end++ {
		if l.restore(span(end-1, end)); closed(much) {
			t.Fatalf("woken at %d, wanted beyond 9", end)
		}
	}
	_, same, _ := l.look(11)
	l.restore(span(9, 10))
	if !closed(much) || !closed(same) {
		t.Fatal("not woken at 10, wanted beyond 9")
	}
	_, much, _ = l.look(30)
	_, little, _ := l.look(10)
	l.restore(span(11, 12)) // not at the front
	if closed(little) {
		t.Fatal("woken by bytes that are not at the front")
	}
	l.restore(span(10, 11))
	if !closed(little) || !closed(much) {
		t.Fatal("not woken at 12, wanted beyond 10")
	}
	if _, much, _ = l.look(30); closed(much) {
		t.Fatal("wants beyond 30, which is not there")
	}
	if l.enter(idle); !closed(much) {
		t.Fatal("not woken when the phase changed")
	}
}
