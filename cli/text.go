package cli

import (
	"braid/internal/nearest"
	"braid/internal/quantity"
)

// How quantities are written and read, under the names that fit a sentence here.
var (
	sizeText = quantity.Size
	rateText = quantity.Rate
	timeText = quantity.Time
	percent  = quantity.Percent
	count    = quantity.Count
	shorten  = quantity.Shorten

	parseSize = quantity.ParseSize
	parseTime = quantity.ParseTime
	errSize   = quantity.ErrSize
	errTime   = quantity.ErrTime
)

// nearestWord finds the word that was probably meant, or "".
var nearestWord = nearest.Word
