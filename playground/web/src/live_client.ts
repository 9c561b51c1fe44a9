// SPDX-License-Identifier: MIT
// A client of a running server: the C++ client over a WebSocket. Runs in a page and under Node.js.
import type { Module } from './module.ts';

/** Numbers of one entity in shown(), see playground/src/live.cpp. */
export const entityNumbers = 22;

export interface LiveState {
  status: 'connecting' | 'joining' | 'joined' | 'refused' | 'disconnected' | 'reconnecting';
  has_joined: boolean;
  refusal: string;
  round_trip_s: number;
  delay_s: number;
  datagrams_received: number;
  datagrams_lost: number;
  updates_applied: number;
  malformed: number;
  bytes_received: number;
  server_time_s: number | null;
  events: { kind: string; name: string }[];
}

export interface Link {
  client: number;
  rtt_s: number;
  jitter_s: number;
  loss: number;
  sent: number;
  budget: number;
  queued: number;
  age_s: number;
  behind_s: number;
}

/** What the server has sent, in bytes since it began. */
export interface Traffic {
  contents: Record<string, number>;
  archetypes: { name: string; bytes: number[] }[];
  fields: { archetype: string; name: string; values: number; bytes: number }[];
  entities: { id: number; archetype: string; bytes: number }[];
}

export interface ServerStatus {
  ticks: number;
  tick_rate: number;
  entities: number;
  clients: number;
  watchers: number;
  publishes: number;
  updates_sent: number;
  repairs_sent: number;
  datagrams_lost: number;
  refused: number;
  sent_bytes_per_second: number;
  budget_bytes_per_second: number;
  links: Link[];
  traffic?: Traffic; // an older server sends none
}

export class LiveClient {
  private socket: WebSocket | null = null;
  private readonly names = new Map<number, string>();
  private room = 0; // memory of the module for arriving messages
  private roomBytes = 0;

  /** `send` must be the function `page.send` of the module's imports. */
  static importsFor(client: () => LiveClient | null, memory: () => WebAssembly.Memory): WebAssembly.ModuleImports {
    return {
      send: (address: number, bytes: number) =>
        client()?.send(new Uint8Array(memory().buffer, address, bytes).slice()) ? 1 : 0,
    };
  }

  constructor(private readonly module: Module, private readonly now_s: () => number) {}

  /** Opens the connection. `socketFor` makes the WebSocket, for programs outside of a page. */
  connect(address: string, token: Uint8Array, mode: string, socketFor = (to: string) => new WebSocket(to, 'reckoner')): void {
    this.module.call('pg_live_start', [token, mode]);
    const socket = socketFor(address);
    socket.binaryType = 'arraybuffer';
    this.socket = socket;
    const { exports } = this.module;
    socket.addEventListener('open', () => exports.pg_live_opened());
    socket.addEventListener('close', () => exports.pg_live_closed());
    socket.addEventListener('message', (event: MessageEvent<ArrayBuffer>) => {
      const now_s = this.now_s();
      const bytes = new Uint8Array(event.data);
      if (bytes.length > this.roomBytes) {
        if (this.room !== 0) exports.pg_free(this.room);
        this.roomBytes = Math.max(4096, bytes.length);
        this.room = exports.pg_alloc(this.roomBytes);
      }
      new Uint8Array(exports.memory.buffer, this.room, bytes.length).set(bytes);
      exports.pg_live_received(this.room, bytes.length, now_s);
      exports.pg_live_update(now_s); // acknowledges at once
    });
  }

  send(message: Uint8Array<ArrayBuffer>): boolean {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(message);
    return true;
  }

  /** The numbers of all shown entities. Valid until the next call of the client. */
  shown(now_s = this.now_s()): Float64Array {
    const { exports } = this.module;
    exports.pg_live_update(now_s);
    const count = exports.pg_live_shown();
    return new Float64Array(exports.memory.buffer, exports.pg_live_entities(), count * entityNumbers);
  }

  name(id: number): string {
    let name = this.names.get(id);
    if (name === undefined) {
      name = this.module.call('pg_live_name', [], id);
      if (name !== '') this.names.set(id, name);
    }
    return name;
  }

  state(): LiveState {
    return JSON.parse(this.module.call('pg_live_state', []));
  }

  /** Null before the first text, or if the text is no JSON. */
  server(): ServerStatus | null {
    try {
      const text = this.module.call('pg_live_server', []);
      return text === '' ? null : (JSON.parse(text) as ServerStatus);
    } catch {
      return null;
    }
  }

  setMode(mode: string): void {
    this.module.call('pg_live_mode', [mode]);
  }

  leave(): void {
    this.module.exports.pg_live_leave();
    this.socket?.close();
  }
}
