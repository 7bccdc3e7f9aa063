void run(void) {
    _Bool b = 5; OUT(b); b = 0.5; OUT(b); b = 0; OUT(b); int x = 3; b = &x != 0; OUT(b); b += 7; OUT(b); b--; OUT(b);
    OUT((_Bool)256); OUT((_Bool)0.0); OUT(sizeof(_Bool)); b = 2; b = !b; OUT(b); b |= 4; OUT(b);
}
