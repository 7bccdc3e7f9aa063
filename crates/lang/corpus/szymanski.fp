// Szymanski's algorithm (ICS 1988), two threads, for ever.
// As published: correct under SC, not under TSO.
// expect: sc=safe tso=unsafe
program "szymanski";
shared flag[2], inside;

procedure enter(i, j) {
  reg f;
  while (1) {
    flag[i] := 1;
    while (flag[j] >= 3);
    flag[i] := 3;
    if (flag[j] == 1) {
      flag[i] := 2;
      while (flag[j] != 4);
    }
    flag[i] := 4;
    if (j < i) {
      while (flag[j] >= 2);
    }
    // critical section: nobody else may be in it
    atomic { assert(inside == 0, "mutual exclusion"); inside := 1; }
    atomic { inside := 0; }
    if (j > i) {
      f := 2;
      while (f == 2 || f == 3) { f := flag[j]; }
    }
    flag[i] := 0;
  }
}

start enter(0, 1), enter(1, 0);
