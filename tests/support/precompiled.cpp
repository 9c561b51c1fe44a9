// SPDX-License-Identifier: MIT
// Nothing: the target exists for its precompiled header, which all tests use.
