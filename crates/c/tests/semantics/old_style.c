/* Definitions as before 1989, and declarations without a type. */
static add(a, b)
int a, b;
{
    return a + b;
}
static char *skip(text, c, times)
char *text;
char c;
unsigned times;
{
    while (times-- && *text == c)
        text++;
    return text;
}
static int first(array, n) int array[]; { return array[n]; }
static long call(f, x) long (*f)(); long x; { return f(x); }
static long twice(long x) { return 2 * x; }
static counter;
void run(void) {
    int numbers[3] = {4, 5, 6};
    const n = 7;
    OUT(add(1, 2));
    OUT(*skip("aaab", 'a' + 256, 3));
    OUT(first(numbers, 2));
    OUT(call(twice, 21));
    counter += n;
    OUT(counter);
}
