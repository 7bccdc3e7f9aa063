// Dijkstra's algorithm, three threads, for ever.
// With the fences that TSO needs.
// expect: sc=safe tso=safe
program "dijkstra3_fenced";
shared b[3] = 1, c[3] = 1, k, inside;

procedure enter(i) {
  reg t, j;
begin:
  b[i] := 0;
again:
  t := k;
  if (t != i) {
    c[i] := 1;
    fence;
    if (b[t] == 1) { k := i; }
    goto again;
  }
  c[i] := 0;
  fence;
  j := 0;
  while (j < 3) { if (j != i) { if (c[j] == 0) goto again; } j := j + 1; }
    // critical section: nobody else may be in it
    atomic { assert(inside == 0, "mutual exclusion"); inside := 1; }
    atomic { inside := 0; }
  c[i] := 1;
  b[i] := 1;
  goto begin;
}

start enter(0), enter(1), enter(2);
