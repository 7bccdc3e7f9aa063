#pragma once
#define nullptr ((void *)0)
#define constexpr static const
#define thread_local _Thread_local
#define alignas _Alignas
#define alignof _Alignof
