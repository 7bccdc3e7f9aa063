#undef assert
#ifdef NDEBUG
#define assert(...) ((void)0)
#else
#define assert(...) __fp_assert((__VA_ARGS__), #__VA_ARGS__)
#endif
#define static_assert _Static_assert
