void run(void) {
    int i = 0, n = 0;
again: n += i; if (++i < 5) goto again; OUT(n);
    { int x = 3; goto inner; x = 100; inner: OUT(x); }
    for (i = 0; i < 3; i++) for (int j = 0; j < 3; j++) { int a[2] = {i, j}; if (a[0] * a[1] == 2) goto out; n += a[1]; }
out: OUT(n); OUT(i); goto end; n = 0; end: OUT(n);
    int k = 0; l1: { int arr[3] = {1, 2, 3}; k += arr[k]; if (k < 3) goto l1; } OUT(k); if (k) { lab: k++; } if (k < 6) goto lab; OUT(k);
    goto into; { int z[2]; into: z[0] = 4; z[1] = 5; OUT(z[0] + z[1]); }
}
