// Lamport's bakery algorithm (CACM 17(8), 1974), two threads, each entering 60 times: a large state space for measuring speed.
// With the fences that TSO needs.
program "bakery_large";
shared choosing[2], number[2], inside;

procedure enter(i, j) {
  reg left := 60, mine, other, wait;
  while (left > 0) {
    choosing[i] := 1;
    fence;
    other := number[j];
    mine := other + 1;
    number[i] := mine;
    choosing[i] := 0;
    fence;
    while (choosing[j] == 1);
    wait := 1;
    while (wait) {
      other := number[j];
      wait := other != 0 && (other < mine || (other == mine && j < i));
    }
    // critical section: nobody else may be in it
    atomic { assert(inside == 0, "mutual exclusion"); inside := 1; }
    atomic { inside := 0; }
    number[i] := 0;
    left := left - 1;
  }
}

start enter(0, 1), enter(1, 0);
