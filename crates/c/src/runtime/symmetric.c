/* Where a thread begins that __VERIFIER_spawn_symmetric starts: who explores knows threads that begin here for equal if they
   run the same routine with the same argument. */
void *__fp_symmetric_start(void *(*routine)(void *), void *argument) {
    return routine(argument);
}
