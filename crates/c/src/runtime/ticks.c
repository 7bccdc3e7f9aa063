/* The counter of a processor: any number that is not below the one that the thread read before. */
static _Thread_local unsigned long __fp_ticks_read;
unsigned long __fp_ticks(unsigned long later) {
    __fp_ticks_read += later;
    return __fp_ticks_read;
}
