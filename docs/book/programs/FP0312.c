// check: -m sc
int main(void) {
#ifdef MENDED
    char name[] = "worker 0";
#else
    char *name = "worker 0";
#endif
    name[7] = '1';
    return 0;
}
