static int log_[8], n; static int t(int v) { log_[n++] = v; return v; }
void run(void) { int a = (t(1), t(2)); OUT(a); OUT(n); for (int i = 0, j = (n = 0, 5); i < 2; i++, j--) OUT(j); int x = 3; x = x++ + 0, x += 2; OUT(x); int y = (x = 4, x * 2); OUT(y); t(7) && t(8); OUT(log_[0]); OUT(log_[1]); (void)0, OUT(5); int i = 0; int arr[3]; arr[i] = i, i++; OUT(arr[0] + i); }
