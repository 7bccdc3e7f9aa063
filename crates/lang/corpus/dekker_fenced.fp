// Dekker's algorithm (E. W. Dijkstra, Cooperating sequential processes, 1965), two threads, for ever.
// With the fences that TSO needs.
// expect: sc=safe tso=safe
program "dekker_fenced";
shared flag[2], turn, inside;

procedure enter(i, j) {
  while (1) {
    flag[i] := 1;
    fence;
    while (flag[j] == 1) {
      if (turn != i) {
        flag[i] := 0;
        while (turn != i);
        flag[i] := 1;
        fence;
      }
    }
    // critical section: nobody else may be in it
    atomic { assert(inside == 0, "mutual exclusion"); inside := 1; }
    atomic { inside := 0; }
    turn := j;
    flag[i] := 0;
  }
}

start enter(0, 1), enter(1, 0);
