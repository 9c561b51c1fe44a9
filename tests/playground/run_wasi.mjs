// SPDX-License-Identifier: MIT
// node run_wasi.mjs PROGRAM: runs a command-line program that was compiled for WebAssembly.
import { readFileSync } from 'node:fs';
import { WASI } from 'node:wasi';

const wasi = new WASI({ version: 'preview1', args: process.argv.slice(2) });
// Node.js 18, which Debian has, does not have wasi.getImportObject().
const imports = { wasi_snapshot_preview1: wasi.wasiImport };
const { instance } = await WebAssembly.instantiate(readFileSync(process.argv[2]), imports);
process.exit(wasi.start(instance));
