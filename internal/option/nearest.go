package option

import "strings"

// Nearest finds the word that was probably meant, or "". It does not guess far: a wrong suggestion is worse than none.
func Nearest(word string, known []string) string {
	best, bestDistance := "", max(1, (len(word)+1)/3)+1
	for _, k := range known {
		d := distance(word, k)
		if short := min(len(word), len(k)); short >= 3 && (strings.HasPrefix(word, k) || strings.HasPrefix(k, word)) {
			d = min(d, 1)
		}
		if d < bestDistance || d == bestDistance && best != "" && k < best {
			best, bestDistance = k, d
		}
	}
	return best
}

// distance counts the letters to add, drop, change or swap with their neighbour between a and b.
func distance(a, b string) int {
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	older, old, now := rows[0], rows[1], rows[2]
	for j := range old {
		old[j] = j
	}
	for i := 1; i <= len(a); i++ {
		now[0] = i
		for j := 1; j <= len(b); j++ {
			change := 0
			if a[i-1] != b[j-1] {
				change = 1
			}
			now[j] = min(old[j]+1, now[j-1]+1, old[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				now[j] = min(now[j], older[j-2]+1)
			}
		}
		older, old, now = old, now, older
	}
	return old[len(b)]
}
