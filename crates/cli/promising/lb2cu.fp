// LBcu with such a compare-exchange in both threads.
shared x, y;
process P { reg a, c; a := x; c := cas(x, a, a); assume(c); y := 1; assert(a == 0); }
process Q { reg b, d; b := y; d := cas(y, b, b); assume(d); x := b; }
