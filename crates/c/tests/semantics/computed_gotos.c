/* A small machine with a table of labels, and one with distances between them. */
static int interpret(const unsigned char *code) {
    static void *table[] = {&&add, &&dup, &&mul, [5] = &&halt};
    int stack[8], top = 0;
    stack[0] = 3;
    goto *table[*code];
add:
    stack[top] += 10;
    goto *table[*++code];
dup:
    stack[top + 1] = stack[top];
    top++;
    goto *table[*++code];
mul:
    stack[top - 1] *= stack[top];
    top--;
    goto *table[*++code];
halt:
    return stack[top];
}
static int distances(int n) {
    static const int offset[] = {&&zero - &&zero, &&one - &&zero, &&two - &&zero};
    int seen = 0;
    for (int i = 0; i < n; i++) {
        int inner = i;
        goto *(&&zero + offset[inner % 3]);
    zero:
        seen += 1;
        continue;
    one:
        seen += 10;
        continue;
    two:
        seen += 100 + inner;
    }
    return seen;
}
static int local(int again) {
    void *next = &&out;
    int times = 0;
back:
    times++;
    if (again-- > 0)
        next = &&back;
    else
        next = &&out;
    {
        int a[2] = {times, 2};
        times = a[0];
        goto *next;
    }
out:
    return times;
}
void run(void) {
    static const unsigned char code[] = {0, 1, 2, 0, 5};
    OUT(interpret(code));
    OUT(distances(7));
    OUT(local(3));
    OUT(({ __label__ here; here: &&here != 0; }));
}
