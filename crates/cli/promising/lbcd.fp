// LBcd [AAGKV, 3.2]: the compare-exchange wants one value, so that another thread can make it fail: no promise of y.
shared x, y;
process P { reg a, c; a := x; c := cas(x, 0, 1); assume(c); y := 1; assert(a == 0); }
process Q { reg b; b := y; x := b; }
