// LBcu [AAGKV, 3.2]: the compare-exchange succeeds whatever it reads, so the promise of y survives any future memory; by the strong
// notion no read-modify-write may be used to certify it.
shared x, y;
process P { reg a, c; a := x; c := cas(x, a, a); assume(c); y := 1; assert(a == 0); }
process Q { reg b; b := y; x := b; }
