// The one-bit algorithm of Burns (J. E. Burns, N. A. Lynch, Bounds on shared memory for mutual exclusion, 1993), two threads, for ever.
// With the fences that TSO needs.
// expect: sc=safe tso=safe
program "burns_fenced";
shared flag[2], inside;

procedure enter(i, j) {
again:
  flag[i] := 0;
  fence;
  if (j < i) {
    if (flag[j] == 1) goto again;
  }
  flag[i] := 1;
  fence;
  if (j < i) {
    if (flag[j] == 1) goto again;
  }
  if (j > i) {
    while (flag[j] == 1);
  }
    // critical section: nobody else may be in it
    atomic { assert(inside == 0, "mutual exclusion"); inside := 1; }
    atomic { inside := 0; }
  goto again;
}

start enter(0, 1), enter(1, 0);
