// SPDX-License-Identifier: MIT
// Empty on purpose: the target provides the precompiled header of all tests.
