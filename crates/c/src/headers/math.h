#pragma once
#define HUGE_VAL __builtin_huge_val()
#define INFINITY ((float)__builtin_huge_val())
#define NAN (0.0f / 0.0f)
#define M_PI 3.14159265358979323846
#define M_E 2.7182818284590452354
#define isnan(x) ((x) != (x))
#define isinf(x) ((x) - (x) != 0 && (x) == (x))
#define isfinite(x) ((x) - (x) == 0)
#define signbit(x) ((x) < 0)
double fabs(double);
float fabsf(float);
double fmax(double, double);
double fmin(double, double);
double floor(double);
double ceil(double);
double trunc(double);
double round(double);
double sqrt(double);
double pow(double, double);
double exp(double);
double log(double);
double log2(double);
double log10(double);
double sin(double);
double cos(double);
double tan(double);
double asin(double);
double acos(double);
double atan(double);
double atan2(double, double);
double fmod(double, double);
double hypot(double, double);
double cbrt(double);
double ldexp(double, int);
float sqrtf(float);
float powf(float, float);
float floorf(float);
float ceilf(float);
float sinf(float);
float cosf(float);
float expf(float);
float logf(float);
