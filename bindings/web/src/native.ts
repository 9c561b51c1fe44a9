// SPDX-License-Identifier: MIT
// The WebAssembly modules: loading, and the C structs in their memory.
import * as c from './generated.js';
import type { Layout, Pointer } from './generated.js';
import { wasi } from './wasi.js';

/** An error of the library, in one sentence. */
export class ReckonerError extends Error {
  override readonly name = 'ReckonerError';
  /** What kind of error it is; 'closed': the connection has ended or was never made. */
  constructor(message: string, readonly code: c.ResultCode | 'closed') {
    super(message);
  }
}

/** Where a module comes from: its address, a response, its bytes, or a compiled WebAssembly.Module. */
export type ModuleSource = URL | string | object; // Node.js has no types of WebAssembly

const ended = (code: number) =>
  new ReckonerError(`the WebAssembly module has ended with code ${code}; this is a bug of Reckoner`, 'errorInternal');

const compiled = new Map<string, Promise<WebAssembly.Module>>();

async function compileAddress(address: URL): Promise<WebAssembly.Module> {
  if (address.protocol === 'file:') {
    // Node.js has no fetch() for files. An import of node:fs would stop bundlers for browsers.
    const builtin = (globalThis as any).process?.getBuiltinModule;
    if (!builtin) throw new ReckonerError('this version of Node.js is too old: 20.16 is needed', 'errorRefused');
    return WebAssembly.compile(await builtin('node:fs/promises').readFile(address));
  }
  const response = await fetch(address);
  if (!response.ok) throw new ReckonerError(`${address.href} is missing: HTTP ${response.status}`, 'errorNetwork');
  return compileResponse(response);
}

async function compileResponse(response: Response): Promise<WebAssembly.Module> {
  // Some web servers do not know the type of .wasm files.
  return response.headers.get('content-type')?.startsWith('application/wasm')
    ? WebAssembly.compileStreaming(response) : WebAssembly.compile(await response.arrayBuffer());
}

async function compile(source: ModuleSource): Promise<WebAssembly.Module> {
  if (source instanceof WebAssembly.Module) return source;
  if (typeof source === 'string') source = new URL(source, globalThis.location?.href);
  if (source instanceof URL) {
    const address = source;
    let module = compiled.get(address.href);
    if (!module) {
      module = compileAddress(address);
      compiled.set(address.href, module);
      module.catch(() => compiled.delete(address.href)); // the next call tries again
    }
    return module;
  }
  return source instanceof Response ? compileResponse(source) : WebAssembly.compile(source as BufferSource);
}

type Values = { readonly [name: string]: unknown };

/** A started module, whose C functions are `functions`. */
export class Native<Functions> {
  readonly functions: Functions;
  private readonly memory: WebAssembly.Memory;
  private data: DataView;
  private all: Uint8Array<ArrayBuffer>;
  private readonly encoder = new TextEncoder();
  private readonly decoder = new TextDecoder();

  private constructor(instance: WebAssembly.Instance) {
    this.functions = instance.exports as Functions;
    this.memory = instance.exports.memory as WebAssembly.Memory;
    this.data = new DataView(this.memory.buffer);
    this.all = new Uint8Array(this.memory.buffer);
    (instance.exports._initialize as () => void)();
  }

  /** Starts a module of its own. `imports` are the functions that it calls besides those of the system. */
  static async start<Functions>(source: ModuleSource, imports: { [name: string]: Function }): Promise<Native<Functions>> {
    let memory: WebAssembly.Memory | undefined;
    const instance = await WebAssembly.instantiate(await compile(source), { wasi_snapshot_preview1: wasi(() => memory!, ended), reckoner: imports as WebAssembly.ModuleImports });
    memory = instance.exports.memory as WebAssembly.Memory;
    return new Native<Functions>(instance);
  }

  get buffer(): ArrayBuffer {
    return this.memory.buffer as ArrayBuffer;
  }
  /** The memory, which may have grown and moved since the last call of a C function. */
  get view(): DataView {
    if (this.data.buffer !== this.memory.buffer) this.data = new DataView(this.memory.buffer);
    return this.data;
  }
  get bytes(): Uint8Array<ArrayBuffer> {
    if (this.all.buffer !== this.memory.buffer) this.all = new Uint8Array(this.memory.buffer as ArrayBuffer);
    return this.all;
  }

  allocate(bytes: number): Pointer {
    const address = (this.functions as any).reckoner_web_alloc(Math.max(8, bytes)) as Pointer;
    if (address === 0) throw new ReckonerError('out of memory', 'errorMemory');
    this.bytes.fill(0, address, address + bytes);
    return address;
  }
  free(address: Pointer): void {
    (this.functions as any).reckoner_web_free(address);
  }
  allocateText(text: string): Pointer {
    const bytes = this.encoder.encode(text);
    const address = this.allocate(bytes.length + 1);
    this.bytes.set(bytes, address);
    return address;
  }
  /** The text at an address; null for the address 0. */
  text(address: Pointer): string | null {
    if (address === 0) return null;
    const { bytes } = this;
    return this.decoder.decode(bytes.subarray(address, bytes.indexOf(0, address)));
  }
  /** A copy. */
  copy(address: Pointer, length: number): Uint8Array<ArrayBuffer> {
    return this.bytes.slice(address, address + length);
  }

  private readOne(at: Pointer, kind: c.Kind): unknown {
    const { view } = this;
    switch (kind) {
      case 'u8': return view.getUint8(at);
      case 'u16': return view.getUint16(at, true);
      case 'i32': return view.getInt32(at, true);
      case 'u32': case 'pointer': return view.getUint32(at, true);
      case 'i64': return Number(view.getBigInt64(at, true));
      case 'u64': return this.readId(at);
      case 'f32': return view.getFloat32(at, true);
      case 'f64': return view.getFloat64(at, true);
      default: return this.read(at, kind);
    }
  }
  private writeOne(at: Pointer, kind: c.Kind, value: unknown): void {
    const { view } = this;
    if (typeof kind === 'object') return this.write(at, kind, value as Values);
    const number = Number(value);
    switch (kind) {
      case 'u8': return view.setUint8(at, number);
      case 'u16': return view.setUint16(at, number, true);
      case 'i32': return view.setInt32(at, number, true);
      case 'u32': case 'pointer': return view.setUint32(at, number, true);
      case 'i64': return view.setBigInt64(at, BigInt(Math.round(number)), true);
      case 'u64': return view.setBigUint64(at, BigInt(Math.round(number)), true);
      case 'f32': return view.setFloat32(at, number, true);
      case 'f64': return view.setFloat64(at, number, true);
    }
  }
  /** A 64-bit number below 2^53, such as the id of an entity, without a bigint. */
  readId(at: Pointer): number {
    const { view } = this;
    return view.getUint32(at, true) + view.getUint32(at + 4, true) * 4294967296;
  }

  /** All members of a struct. */
  read(address: Pointer, layout: Layout): Record<string, any> {
    const out: Record<string, unknown> = {};
    for (const [name, [offset, kind, length]] of Object.entries(layout.members)) {
      if (name === 'structSize' || name.startsWith('reserved')) continue;
      const step = typeof kind === 'object' ? kind.size : { u8: 1, u16: 2, i32: 4, u32: 4, f32: 4, pointer: 4, i64: 8, u64: 8, f64: 8 }[kind];
      out[name] = length ? Array.from({ length }, (_, i) => this.readOne(address + offset + i * step, kind)) : this.readOne(address + offset, kind);
    }
    return out;
  }
  /** Sets those members of a struct that `values` has. Booleans become 0 and 1. */
  write(address: Pointer, layout: Layout, values: Values): void {
    for (const [name, value] of Object.entries(values)) {
      if (value === undefined) continue;
      const member = layout.members[name];
      if (!member) throw new ReckonerError(`${name} is no setting`, 'errorArgument');
      const [offset, kind, length] = member;
      if (!length) {
        if (typeof kind === 'string' && typeof value !== 'number' && typeof value !== 'boolean')
          throw new ReckonerError(`${name} must be a number`, 'errorArgument');
        this.writeOne(address + offset, kind, value);
        continue;
      }
      const elements = value as ArrayLike<number>;
      if (elements?.length !== length) throw new ReckonerError(`${name} must have ${length} numbers`, 'errorArgument');
      const step = { u8: 1, u16: 2, i32: 4, u32: 4, f32: 4, pointer: 4, i64: 8, u64: 8, f64: 8 }[kind as Exclude<c.Kind, Layout>];
      for (let i = 0; i < length; ++i) this.writeOne(address + offset + i * step, kind, elements[i]);
    }
  }
  /** A new struct with its struct_size, if it has one. */
  struct(layout: Layout, count = 1): Pointer {
    const address = this.allocate(layout.size * count);
    if (layout.members.structSize) for (let i = 0; i < count; ++i) this.view.setUint32(address + i * layout.size, layout.size, true);
    return address;
  }
}

/** The name of an enumerator. */
export function nameOf<Names extends { readonly [name: string]: number }>(names: Names, value: number): keyof Names | undefined {
  for (const name in names) if (names[name] === value) return name;
  return undefined;
}

/** The value of an enumerator that a program has given by name. */
export function valueOf(what: string, names: { readonly [name: string]: number }, name: string): number {
  const value = Object.hasOwn(names, name) ? names[name] : undefined;
  if (value === undefined) throw new ReckonerError(`${what} is ${JSON.stringify(name)}; it must be ${Object.keys(names).join(', ')}`, 'errorArgument');
  return value;
}

/** Frees what it has allocated, all at once. */
export class Arena {
  private readonly addresses: Pointer[] = [];
  constructor(private readonly native: Native<any>) {}
  struct(layout: Layout, count = 1): Pointer {
    return this.keep(this.native.struct(layout, count));
  }
  text(text: string): Pointer {
    return this.keep(this.native.allocateText(text));
  }
  bytes(bytes: Uint8Array): Pointer {
    const address = this.keep(this.native.allocate(bytes.length));
    this.native.bytes.set(bytes, address);
    return address;
  }
  room(bytes: number): Pointer {
    return this.keep(this.native.allocate(bytes));
  }
  free(): void {
    for (const address of this.addresses.splice(0)) this.native.free(address);
  }
  private keep(address: Pointer): Pointer {
    this.addresses.push(address);
    return address;
  }
}
