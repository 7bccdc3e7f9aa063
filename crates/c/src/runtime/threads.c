/* The threads that nobody may join any more: they were joined or detached. For programs that detach, or where several
   functions join. */
unsigned char __fp_gone[64];
