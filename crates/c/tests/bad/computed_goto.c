int main(void) {
    void *p = &&end;
    goto *p;
end:
    return 0;
}
