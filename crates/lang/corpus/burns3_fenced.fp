// The one-bit algorithm of Burns, three threads, for ever.
// With the fences that TSO needs.
// expect: sc=safe tso=safe
program "burns3_fenced";
shared flag[3], inside;

procedure enter(i) {
  reg j;
again:
  flag[i] := 0;
  fence;
  j := 0;
  while (j < i) { if (flag[j] == 1) goto again; j := j + 1; }
  flag[i] := 1;
  fence;
  j := 0;
  while (j < i) { if (flag[j] == 1) goto again; j := j + 1; }
  j := i + 1;
  while (j < 3) { while (flag[j] == 1); j := j + 1; }
    // critical section: nobody else may be in it
    atomic { assert(inside == 0, "mutual exclusion"); inside := 1; }
    atomic { inside := 0; }
  goto again;
}

start enter(0), enter(1), enter(2);
