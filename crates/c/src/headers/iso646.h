#pragma once
#define and &&
#define or ||
#define not !
#define xor ^
#define bitand &
#define bitor |
#define compl ~
#define and_eq &=
#define or_eq |=
#define xor_eq ^=
#define not_eq !=
