// SPDX-License-Identifier: MIT
/**
 * The functions of WASI that the C library calls. There are no files, no arguments and no environment. What it prints goes to the
 * console. `ended` makes the error that is thrown if the module ends, with its exit code.
 */
export function wasi(memory: () => WebAssembly.Memory, ended: (code: number) => Error): WebAssembly.ModuleImports {
  const view = () => new DataView(memory().buffer);
  const badFile = 8;
  const missing = 52;
  let line = '';
  const functions: Record<string, (...values: any[]) => number> = {
    fd_write(file: number, parts: number, count: number, written: number) {
      if (file !== 1 && file !== 2) return badFile;
      let bytes = 0;
      for (let i = 0; i < count; ++i) {
        const address = view().getUint32(parts + 8 * i, true);
        const length = view().getUint32(parts + 8 * i + 4, true);
        line += new TextDecoder().decode(new Uint8Array(memory().buffer, address, length));
        bytes += length;
      }
      const end = line.lastIndexOf('\n');
      if (end >= 0) {
        console.warn(line.slice(0, end));
        line = line.slice(end + 1);
      }
      view().setUint32(written, bytes, true);
      return 0;
    },
    random_get(address: number, length: number) {
      crypto.getRandomValues(new Uint8Array(memory().buffer, address, length));
      return 0;
    },
    clock_time_get(_id: number, _precision: bigint, address: number) {
      view().setBigUint64(address, BigInt(Date.now()) * 1_000_000n, true);
      return 0;
    },
    environ_sizes_get(count: number, bytes: number) {
      view().setUint32(count, 0, true);
      view().setUint32(bytes, 0, true);
      return 0;
    },
    environ_get: () => 0,
    fd_prestat_get: () => badFile,
    proc_exit(code: number): number {
      throw ended(code);
    },
  };
  return new Proxy(functions, { get: (all, name: string) => all[name] ?? (() => missing) });
}
