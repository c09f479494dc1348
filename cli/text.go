package cli

import (
	"braid/internal/option"
)

// How quantities are written and read, under the names that fit a sentence here.
var (
	sizeText = option.SizeText
	rateText = option.RateText
	timeText = option.TimeText
	percent  = option.Percent
	count    = option.Count
	shorten  = option.Shorten

	errSize = option.ErrSize
	errTime = option.ErrTime
)

// nearestWord finds the word that was probably meant, or "".
var nearestWord = option.Nearest
