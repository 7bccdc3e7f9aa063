// Lamport's fast mutual exclusion algorithm, three threads, for ever. Thread i is number i + 1.
// As published: correct under SC, not under TSO.
// expect: sc=safe tso=unsafe
program "lamport3";
shared b[3], x, y, inside;

procedure enter(i, id) {
  reg j;
again:
  b[i] := 1;
  x := id;
  if (y != 0) {
    b[i] := 0;
    while (y != 0);
    goto again;
  }
  y := id;
  if (x != id) {
    b[i] := 0;
    j := 0;
    while (j < 3) { while (b[j] != 0); j := j + 1; }
    if (y != id) {
      while (y != 0);
      goto again;
    }
  }
    // critical section: nobody else may be in it
    atomic { assert(inside == 0, "mutual exclusion"); inside := 1; }
    atomic { inside := 0; }
  y := 0;
  b[i] := 0;
  goto again;
}

start enter(0, 1), enter(1, 2), enter(2, 3);
