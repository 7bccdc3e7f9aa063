// A promise of x that is certified by splitting it: the store takes its lower part, and the compare-exchange fulfils the rest.
shared x, y;
process P { reg a, c; a := y; x := 1; c := cas(x, 1, 2); assume(c); assert(a != 2); }
process Q { reg b; b := x; y := b; }
