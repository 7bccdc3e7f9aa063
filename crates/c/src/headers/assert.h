#undef assert
#ifdef NDEBUG
#define assert(e) ((void)0)
#else
#define assert(e) __fp_assert((e), #e)
#endif
#define static_assert _Static_assert
