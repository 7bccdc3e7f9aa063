// Dijkstra's algorithm (Solution of a problem in concurrent programming control, 1965), two threads, for ever.
// As published: correct under SC, not under TSO.
// expect: sc=safe tso=unsafe
program "dijkstra";
shared b[2] = 1, c[2] = 1, k, inside;

procedure enter(i, j) {
  reg t;
begin:
  b[i] := 0;
again:
  t := k;
  if (t != i) {
    c[i] := 1;
    if (b[t] == 1) { k := i; }
    goto again;
  }
  c[i] := 0;
  if (c[j] == 0) goto again;
    // critical section: nobody else may be in it
    atomic { assert(inside == 0, "mutual exclusion"); inside := 1; }
    atomic { inside := 0; }
  c[i] := 1;
  b[i] := 1;
  goto begin;
}

start enter(0, 1), enter(1, 0);
