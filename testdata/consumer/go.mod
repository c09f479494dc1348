module example.org/consumer

go 1.26.0

require braid v0.0.0

replace braid => ../..
