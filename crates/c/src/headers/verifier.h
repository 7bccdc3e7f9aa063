/* The verifier vocabulary is known without a declaration; this header exists for programs that include one. */
#pragma once
