/*
 * An access beyond the end of an array.
 * expect: sc=unsafe tso=unsafe pso=unsafe ra=unsafe rc11=unsafe power=unsafe armv8=unsafe
 * count: sc=0 tso=0 pso=0 ra=0 rc11=0 rc20=0 power=0 armv8=0
 * why: The loop runs once too often.
 */
int a[4];

int main(void) {
    int sum = 0;
    for (int i = 0; i <= 4; i++)
        sum += a[i];
    return sum;
}
