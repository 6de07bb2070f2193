// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <weft/scenario.h>

int main(int argc, char** argv) { return weft::main(argc, argv); }
