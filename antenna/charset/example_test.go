package charset_test

import (
	"fmt"

	"braid/antenna/charset"
)

// What a feed declares is only the first guess: its lines have the last word.
func ExampleGuess() {
	line := []byte("更新")
	g := charset.NewGuess("euc-jp")
	g.Observe(line)
	text, clean := g.Charset().Append(nil, line)
	fmt.Println(g.First(), g.Charset(), string(text), clean)
	// Output: euc-jp utf-8 更新 true
}
