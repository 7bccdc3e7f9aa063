// Szymanski's algorithm (ICS 1988), three threads, for ever.
// With the fences that TSO needs.
// expect: sc=safe tso=safe
program "szymanski3_fenced";
shared flag[3], inside;

// The doorway is the set of flags 1 to 4; a thread looks at the flags of the others one after the other.
procedure some(me, low, high) {
  reg j, f;
  j := 0;
  while (j < 3) {
    f := flag[j];
    if (j != me) { if (f >= low) { if (f <= high) { return 1; } } }
    j := j + 1;
  }
  return 0;
}

procedure enter(i) {
  reg j, f, s;
  while (1) {
    flag[i] := 1; fence;
    s := 1;
    while (s) { s := call some(i, 3, 4); }
    flag[i] := 3; fence;
    s := call some(i, 1, 1);
    if (s) {
      flag[i] := 2; fence;
      s := 0;
      while (!s) { s := call some(i, 4, 4); }
    }
    flag[i] := 4; fence;
    j := 0;
    while (j < i) { while (flag[j] >= 2); j := j + 1; }
    // critical section: nobody else may be in it
    atomic { assert(inside == 0, "mutual exclusion"); inside := 1; }
    atomic { inside := 0; }
    j := i + 1;
    while (j < 3) {
      f := 2;
      while (f == 2 || f == 3) { f := flag[j]; }
      j := j + 1;
    }
    flag[i] := 0; fence;
  }
}

start enter(0), enter(1), enter(2);
