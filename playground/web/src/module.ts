// SPDX-License-Identifier: MIT
// The WebAssembly module: loads it, and turns its C functions into methods.
import { wasi } from '../../../bindings/web/src/wasi.ts';

interface Exports {
  memory: WebAssembly.Memory;
  _initialize(): void;
  pg_alloc(bytes: number): number;
  pg_free(address: number): void;
  pg_text(): number;
  pg_text_bytes(): number;
  pg_catalog(): number;
  pg_open(name: number, nameBytes: number, text: number, bytes: number): number;
  pg_run(settings: number, bytes: number, frames: number): number;
  pg_shape(): number;
  pg_track(method: number): number;
  pg_packet_count(method: number): number;
  pg_packets(): number;
  pg_part_count(method: number): number;
  pg_parts(): number;
  pg_command(settings: number, bytes: number): number;
  pg_cpp(settings: number, bytes: number): number;
  pg_digest(settings: number, bytes: number): number;
  pg_session_numbers(which: number): number;
  pg_live_opened(): void;
  pg_live_received(message: number, bytes: number, now_s: number): void;
  pg_live_closed(): void;
  pg_live_update(now_s: number): void;
  pg_live_shown(): number;
  pg_live_entities(): number;
  pg_live_leave(): void;
  [name: string]: unknown;
}

export interface LinkValues {
  'latency-ms': number;
  'jitter-ms': number;
  loss: number;
  burst: number;
  duplicate: number;
  'rate-kbps': number;
  'queue-ms': number;
}

export interface Catalog {
  scenarios: { name: string; description: string }[];
  networks: { name: string; link: LinkValues }[];
  perfect: LinkValues;
  methods: string[];
}

export interface Shape {
  source: string;
  network: string;
  start_s: number;
  frame_rate_hz: number;
  entities: number;
  frames: number;
  names: string[];
  methods: string[];
  kinds: string[]; // of parts of datagrams
}

/** A step of a recorded session and its explanation (docs/explain.md). */
export interface ExplainedStep {
  entity: number;
  generation: number;
  name: string;
  frame: number;
  at_s: number;
  velocity_step_mps: number;
  position_step_m: number;
  correction_m: number;
  cause: string;
  known: boolean;
  sentence: string;
  evidence: Record<string, number>;
}

/** A correction of a predicted entity, and why it came. */
export interface ExplainedCorrection {
  entity: number;
  generation: number;
  name: string;
  at_s: number;
  tick: number;
  error_m: number;
  cause: string;
  known: boolean;
  sentence: string;
  evidence: Record<string, number>;
}

/** A recorded session (playground/src/session_view.hpp). Times are in s since its first call. */
export interface SessionShape {
  frame_rate_hz: number;
  frames: number;
  cut: boolean;
  names: string[];
  explained: { version: string; mode: string; seconds: number; truncated: boolean; differences: number; damage?: string; steps: ExplainedStep[]; corrections: ExplainedCorrection[]; correction_causes: Record<string, number> };
  datagrams: { arrived: [sent_s: number, arrived_s: number][]; lost: number[] };
  entities: { entity: number; generation: number; motions: [at_s: number, step_m: number][] }[];
  clock_steps: [at_s: number, by_s: number][];
}

export interface SessionResult {
  text: string;
  shown: Float32Array<ArrayBuffer>;
  motion: Float32Array<ArrayBuffer>;
  blend: Float32Array<ArrayBuffer>;
  clock: Float32Array<ArrayBuffer>;
}

export const poseFloats = 7;
export const packetFloats = 5;
export const partFloats = 5;

export class Module {
  private constructor(readonly exports: Exports) {}

  /** Compiles and starts the module. `extra` are functions of the page that the module may call. */
  static async load(source: BufferSource | Promise<Response>, extra: WebAssembly.ModuleImports = {}): Promise<Module> {
    let memory: WebAssembly.Memory | undefined;
    const imports = { wasi_snapshot_preview1: wasi(() => memory!, (code) => new Error(`the module ended with code ${code}`)), page: { send: () => 0, ...extra } } as unknown as WebAssembly.Imports;
    let instance: WebAssembly.Instance;
    if (source instanceof Promise) {
      const response = await source;
      if (!response.ok) throw new Error(`playground.wasm: HTTP ${response.status}`);
      const streams = (response.headers.get('content-type') ?? '').startsWith('application/wasm');
      instance = streams
        ? (await WebAssembly.instantiateStreaming(response, imports)).instance
        : (await WebAssembly.instantiate(await response.arrayBuffer(), imports)).instance;
    } else {
      instance = (await WebAssembly.instantiate(source, imports)).instance;
    }
    const exports = instance.exports as unknown as Exports;
    memory = exports.memory;
    exports._initialize();
    return new Module(exports);
  }

  /** Calls a function that takes texts, and returns its text. Throws its error. */
  call(name: string, texts: (string | Uint8Array)[], ...numbers: number[]): string {
    const encoded = texts.map((text) => (typeof text === 'string' ? new TextEncoder().encode(text) : text));
    const addresses = encoded.map((bytes) => {
      const address = this.exports.pg_alloc(Math.max(1, bytes.length));
      if (address === 0) throw new Error('out of memory');
      return address;
    });
    encoded.forEach((bytes, i) => new Uint8Array(this.exports.memory.buffer, addresses[i]!, bytes.length).set(bytes));
    const values = encoded.flatMap((bytes, i) => [addresses[i]!, bytes.length]);
    const good = (this.exports[name] as (...args: number[]) => number)(...values, ...numbers);
    for (const address of addresses) this.exports.pg_free(address);
    const text = this.text();
    if (!good) throw new Error(text);
    return text;
  }

  text(): string {
    const bytes = new Uint8Array(this.exports.memory.buffer, this.exports.pg_text(), this.exports.pg_text_bytes());
    return new TextDecoder().decode(bytes);
  }

  catalog(): Catalog {
    return JSON.parse(this.call('pg_catalog', []));
  }
  open(name: string, text: string): { seconds: number; entities: string[] } {
    return JSON.parse(this.call('pg_open', [name, text]));
  }
  run(settings: string, frames: boolean): string {
    return this.call('pg_run', [settings], frames ? 1 : 0);
  }
  shape(): Shape {
    return JSON.parse(this.call('pg_shape', []));
  }
  command(settings: string): string {
    return this.call('pg_command', [settings]);
  }
  cpp(settings: string): string {
    return this.call('pg_cpp', [settings]);
  }
  digest(settings: string): string {
    return this.call('pg_digest', [settings]);
  }

  /** Plays back and explains a recorded session. `decisions` is null without a file of the server. */
  session(name: string, recording: Uint8Array, decisions: { name: string; text: string } | null, worst: number): SessionResult {
    const text = this.call('pg_session', [recording, name, decisions?.text ?? '', decisions?.name ?? ''], worst);
    const shape = JSON.parse(text) as SessionShape;
    const entities = shape.frames * shape.names.length;
    const numbers = (which: number, count: number) =>
      new Float32Array(this.exports.memory.buffer, this.exports.pg_session_numbers(which), count).slice();
    return {
      text, shown: numbers(0, entities * poseFloats), motion: numbers(1, entities * poseFloats),
      blend: numbers(2, entities), clock: numbers(3, shape.frames * 2),
    };
  }

  /** A copy of the poses of a method (-1: the truth). */
  track(method: number, shape: Shape): Float32Array<ArrayBuffer> {
    const count = shape.frames * shape.entities * poseFloats;
    return new Float32Array(this.exports.memory.buffer, this.exports.pg_track(method), count).slice();
  }
  /** A copy of the datagrams of a method. */
  packets(method: number): Float32Array<ArrayBuffer> {
    const count = this.exports.pg_packet_count(method) * packetFloats;
    return new Float32Array(this.exports.memory.buffer, this.exports.pg_packets(), count).slice();
  }
  /** A copy of what the datagrams of a method contain (pg_part_count() in playground/src/api.cpp). */
  parts(method: number): Float32Array<ArrayBuffer> {
    const count = this.exports.pg_part_count(method) * partFloats;
    return new Float32Array(this.exports.memory.buffer, this.exports.pg_parts(), count).slice();
  }
}
