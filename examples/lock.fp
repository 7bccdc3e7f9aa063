// Peterson's algorithm (G. L. Peterson, Myths about the mutual exclusion problem, 1981), two threads, for ever.
// With the fences that TSO needs.

program "peterson_fenced";
shared flag[2], turn, inside;

procedure enter(i, j) {
  while (1) {
    flag[i] := 1;
    turn := j;
    fence;
    while (flag[j] == 1 && turn == j);
    // critical section: nobody else may be in it
    atomic { assert(inside == 0, "mutual exclusion"); inside := 1; }
    atomic { inside := 0; }
    flag[i] := 0;
  }
}

start enter(0, 1), enter(1, 0);
