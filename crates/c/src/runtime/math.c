/* What needs no numerics. */
double fabs(double x) { return x < 0 ? -x : x; }
float fabsf(float x) { return x < 0 ? -x : x; }
double fmax(double a, double b) { return a != a || a < b ? b : a; }
double fmin(double a, double b) { return a != a || b < a ? b : a; }
/* From 2^52 on every double is whole. */
double trunc(double x) { return x > -4503599627370496.0 && x < 4503599627370496.0 ? (double)(long)x : x; }
double floor(double x) { return trunc(x) > x ? trunc(x) - 1 : trunc(x); }
double ceil(double x) { return trunc(x) < x ? trunc(x) + 1 : trunc(x); }
double round(double x) { return x < 0 ? trunc(x - 0.5) : trunc(x + 0.5); }
