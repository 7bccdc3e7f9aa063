#define GLUE(a, b) a##b
int main(void) {
    return GLUE(1, +);
}
