// SPDX-License-Identifier: MIT
import type { IncomingMessage, Server as HttpServer } from 'node:http';
import { Emitter } from '../emitter.js';
import * as c from '../generated.js';
import type { Pointer } from '../generated.js';
import { Arena, type ModuleSource, nameOf, Native, ReckonerError, valueOf } from '../native.js';
import {
  type ArchetypeOptions, bytesOf, check, type EntityId, type FieldValue, findField, Message, type Payload, readState, readValue,
  type SendOptions, type State, type Vector, writeArchetypes, writeState, writeValue,
} from '../values.js';
import { addressBytes } from './address.js';
import { Logins } from './logins.js';

interface Functions extends c.ServerFunctions {
  reckoner_web_opened(server: Pointer, stream: number, address: Pointer, now_s: number): number;
  reckoner_web_room(server: Pointer, bytes: number): Pointer;
  reckoner_web_received(server: Pointer, stream: number, bytes: number, now_s: number): void;
  reckoner_web_closed(server: Pointer, stream: number): void;
}

/** The server's id of a client. Never used again. */
export type ClientId = number;

/** Who a client is. */
export interface Identity {
  /** The backend's number of the player. By default a player has one session: a newer one ends the older. */
  clientId: number;
  /** At most 256 bytes for the game. */
  userData?: Payload;
}
/** Decides who may join. `token`: what the client presents, without zeros at the end; untrusted, and empty without one.
 * Returns null to refuse, true to admit a client without an identity. */
export type Authenticate = (token: Uint8Array, request: { address: string }) => Identity | true | null | Promise<Identity | true | null>;

type Numbers = Omit<c.ServerConfig, 'archetypeCount' | 'port' | 'insecure' | 'game' | 'addressCount' | 'handshakesPerSecond' | 'epochS' |
  'followLink' | 'threads' | 'tokensPerSecond' | 'logLeast' | 'anyServer' | 'receiveThread' | 'ticketS' | 'halfOpenS' | 'usedTokens' | 'usedTokensPerClient'>;
/** Options of a server. Times are in seconds. docs/REFERENCE.md lists the defaults. */
export interface ServerOptions extends Partial<Numbers> {
  archetypes: readonly ArchetypeOptions[];
  /** By default, everybody may join. */
  authenticate?: Authenticate;
  /** true; false: the rate does not adapt to each client's connection. */
  followLink?: boolean;
  /** The time of a monotonic clock, ms; by default performance.now(). */
  clock?: () => number;
  wasm?: ModuleSource;
}
export interface ListenOptions {
  /** 0: any free port, which listen() returns. */
  port?: number;
  host?: string;
  /** A server that the game has already, for example one with TLS; instead of `port`. */
  server?: HttpServer;
  /** Origins of pages that may connect, for example https://game.example. By default all. */
  origins?: readonly string[];
  /** The address of a client, for example from a header behind a reverse proxy. By default that of the socket. */
  addressOf?: (request: IncomingMessage) => string;
}

/** A stream of messages to one client, such as a WebSocket. */
export interface Stream {
  /** The bytes are the stream's own. */
  send(message: Uint8Array<ArrayBuffer>): void;
  close(): void;
  /** Bytes that wait to be sent. */
  waiting(): number;
}
/** What the owner of a stream reports. */
export interface StreamEvents {
  received(message: Uint8Array): void;
  closed(): void;
}

export interface SpawnOptions {
  /** At most 64 bytes of UTF-8. */
  name?: string;
  /** Entity in whose frame the new entity and its state are; 0: the world. */
  frame?: EntityId;
}
export interface ShortLivedOptions {
  /** Server time at which the server and all clients end it. By default it ends with despawn(). */
  endTime?: number;
  /** At most 256 bytes for the games of the clients. */
  data?: Uint8Array;
  /** The client that has predicted it with this key (predictSpawn()). */
  predictedBy?: ClientId;
  key?: number;
  frame?: EntityId;
}
export interface OwnershipRules extends Partial<Omit<c.OwnershipRules, 'policy' | 'gone'>> {
  policy?: c.OwnerPolicy;
  gone?: c.OwnerGone;
}
/** To whom broadcast() sends; by default to all. */
export type Recipients = { except?: ClientId } & ({} | { clients: readonly ClientId[] } | { centre: Vector; radiusM: number } | { seeing: EntityId });
export interface PlayerInput {
  bytes: Uint8Array;
  /** 0: the input of this tick. Otherwise that of an earlier tick, used for so many ticks more. */
  repeated: number;
  /** Server time of the other entities that the player saw, s. */
  seenS: number;
}

interface Concerned {
  client: ClientId;
}
export interface ServerEvents {
  clientJoined: Concerned & { identity: { clientId: number; userData: Uint8Array } | undefined };
  clientLeft: Concerned & { reason: string };
  /** The connection is lost; the client may resume. It owns no entities now. */
  clientLost: Concerned;
  clientBack: Concerned;
  clientRefused: { reason: string };
  ownerCorrected: Concerned & { entity: EntityId };
  ownerRefused: Concerned & { entity: EntityId };
  message: { client: ClientId; message: Message };
}

const hello = 2; // docs/WIRE.md
const helloHead = 5;
const mostMessageBytes = 1201;
const mostWaitingBytes = 8192; // of a slow client, before motions for it are dropped
const mostTicksAtOnce = 10;
const whyBytes = 512;
const arrayGrowth = 2;

/** A server. Use createServer(). */
export class Server extends Emitter<ServerEvents> {
  private native!: Native<Functions>;
  private handle: Pointer = 0;
  private readonly streams = new Map<number, Stream>();
  private nextStream = 0;
  private deciding: Identity | true | null = null; // about the client whose hello is received now
  private decidingStream = 0;
  private decidingLogin: Uint8Array = new Uint8Array(16);
  private readonly logins = new Logins();
  private receiving: NodeJS.Immediate | null = null;
  private loop: ReturnType<typeof setTimeout> | undefined;
  private stopListening: (() => void)[] = [];
  private readonly scratch = { event: 0, message: 0, state: 0, value: 0, out: 0, address: 0, input: 0 };
  private readonly archetypeOf = new Map<EntityId, number>();
  private readonly clock: () => number;

  private constructor(private readonly options: ServerOptions) {
    super();
    this.clock = options.clock ?? (() => performance.now());
  }

  /** createServer() */
  static async create(options: ServerOptions): Promise<Server> {
    const server = new Server(options);
    await server.begin(options.wasm ?? new URL('./reckoner_server.wasm', import.meta.url));
    return server;
  }

  private async begin(source: ModuleSource): Promise<void> {
    this.native = await Native.start<Functions>(source, {
      stream_send: (id: number, message: Pointer, bytes: number, mayDrop: number) => {
        const stream = this.streams.get(id);
        if (!stream || (mayDrop && stream.waiting() > mostWaitingBytes)) return 0;
        stream.send(this.native.copy(message, bytes)); // sockets keep what they send
        return 1;
      },
      stream_close: (id: number) => {
        const stream = this.streams.get(id);
        this.forget(id);
        stream?.close();
      },
      admit: (decision: Pointer) => this.writeDecision(decision),
      is_revoked: (clientId: number, login: Pointer) => (this.logins.isRevoked(clientId, this.native.copy(login, 16)) ? 1 : 0),
      next_replaced: () => this.logins.nextReplaced(),
      revoke: (clientId: number, login: Pointer, all: number) => this.logins.revoke(clientId, this.native.copy(login, 16), all === 1),
    });
    const { native, scratch } = this;
    const { archetypes, authenticate, followLink, clock, wasm, ...numbers } = this.options;
    const arena = new Arena(native);
    try {
      const config = arena.struct(c.reckoner_server_config);
      native.functions.reckoner_server_config_init(config, c.reckoner_server_config.size);
      native.write(config, c.reckoner_server_config, {
        ...numbers, followLink, insecure: 1, threads: 1, epochS: this.now(), archetypeCount: archetypes.length,
        archetypes: writeArchetypes(native, arena, archetypes),
      });
      const out = arena.room(8);
      const why = arena.room(whyBytes);
      const result = native.functions.reckoner_server_create(config, out, why, whyBytes);
      if (result < 0) throw new ReckonerError(native.text(why) || native.text(native.functions.reckoner_error_text(result))!, nameOf(c.resultCode, result) ?? 'errorInternal');
      this.handle = native.view.getUint32(out, true);
    } finally {
      arena.free();
    }
    scratch.event = native.struct(c.reckoner_server_event);
    scratch.message = native.struct(c.reckoner_message);
    scratch.input = native.struct(c.reckoner_player_input);
    scratch.state = native.allocate(c.reckoner_state.size);
    scratch.value = native.allocate(c.reckoner_value.size);
    scratch.out = native.allocate(32);
    scratch.address = native.allocate(16);
  }

  private now(): number {
    return this.clock() / 1000;
  }

  // ---- clients

  /** Listens for WebSockets with the package ws. Returns the port. */
  async listen({ port = 0, host, server, origins, addressOf }: ListenOptions): Promise<number> {
    const { WebSocketServer } = await import('ws');
    const listener = new WebSocketServer({
      ...(server ? { server } : { port, host }),
      maxPayload: mostMessageBytes, perMessageDeflate: false,
      verifyClient: ({ origin }: { origin: string }) => !origins || !origin || origins.includes(origin),
    });
    listener.on('connection', (socket, request) => {
      socket.binaryType = 'nodebuffer';
      const events = this.accept({
        send: (message) => socket.send(message),
        close: () => socket.close(),
        waiting: () => socket.bufferedAmount,
      }, addressOf?.(request) ?? request.socket.remoteAddress ?? '');
      socket.on('message', (data, isBinary) => (isBinary ? events.received(data as Buffer) : socket.close()));
      socket.on('close', () => events.closed());
      socket.on('error', () => {}); // a close event follows
    });
    this.stopListening.push(() => {
      listener.close();
      for (const socket of listener.clients) socket.terminate();
    });
    if (!server) await new Promise<void>((resolve, reject) => listener.once('listening', resolve).once('error', reject));
    const bound = (server ?? listener).address();
    return typeof bound === 'object' && bound ? bound.port : port;
  }

  /** Serves a stream that the program has opened itself. `address`: the client's IP address, for limits. */
  accept(stream: Stream, address: string): StreamEvents {
    const id = (this.nextStream = (this.nextStream + 1) >>> 0);
    const { native } = this;
    let joining = false;
    native.bytes.set(addressBytes(address), this.scratch.address);
    if (native.functions.reckoner_web_opened(this.live(), id, this.scratch.address, this.now()) === 0) {
      stream.close();
      return { received: () => {}, closed: () => {} };
    }
    this.streams.set(id, stream);
    return {
      received: (message) => {
        if (!this.streams.has(id) || message.length === 0 || message.length > mostMessageBytes) return;
        if (message[0] !== hello || joining) return this.receive(id, message);
        joining = true; // a second hello is refused and counted
        void this.admit(id, message.slice(), address);
      },
      closed: () => {
        this.forget(id);
        if (this.handle === 0) return;
        native.functions.reckoner_web_closed(this.handle, id);
        this.receiveSoon();
      },
    };
  }

  private forget(id: number): void {
    this.streams.delete(id);
    this.logins.end(id);
  }

  private async admit(id: number, message: Uint8Array, address: string): Promise<void> {
    let end = message.length;
    while (end > helloHead && message[end - 1] === 0) --end;
    const token = message.slice(helloHead, end);
    let decision: Identity | true | null = null;
    try {
      decision = this.options.authenticate ? await this.options.authenticate(token, { address }) : true;
    } catch (error) {
      console.error('authenticate() failed, so the client is refused:', error);
    }
    const login = new Uint8Array(await crypto.subtle.digest('SHA-256', token)).subarray(0, 16);
    if (decision !== null && decision !== true) {
      if (!Number.isSafeInteger(decision.clientId) || decision.clientId < 0) {
        console.error(`authenticate() must return a clientId that is a whole number, not ${decision.clientId}, so the client is refused`);
        decision = null;
      } else if (this.logins.isRevoked(decision.clientId, login)) decision = null;
      else this.logins.note(decision.clientId, login);
    }
    if (this.handle === 0 || !this.streams.has(id)) return;
    if (decision !== null && decision !== true) this.logins.begin(decision.clientId, id);
    this.deciding = decision;
    this.decidingStream = id;
    this.decidingLogin = login;
    this.receive(id, message);
    this.deciding = null;
  }

  private writeDecision(at: Pointer): void {
    const { view, bytes } = this.native;
    view.setUint32(at, this.deciding !== null ? 1 : 0, true);
    if (this.deciding === null || this.deciding === true) return;
    view.setUint32(at + 4, 1, true);
    view.setBigUint64(at + 8, BigInt(this.deciding.clientId), true);
    bytes.set(bytesOf(this.deciding.userData ?? '').subarray(0, c.byteCount.userBytes), at + 16);
    bytes.set(this.decidingLogin, at + 16 + c.byteCount.userBytes);
    view.setUint32(at + 32 + c.byteCount.userBytes, this.decidingStream, true);
  }

  private receive(id: number, message: Uint8Array): void {
    const { native } = this;
    const room = native.functions.reckoner_web_room(this.handle, message.length);
    native.bytes.set(message, room);
    native.functions.reckoner_web_received(this.handle, id, message.length, this.now());
    this.receiveSoon();
  }

  // Once for all messages that the program has got from the system together.
  private receiveSoon(): void {
    this.receiving ??= setImmediate(() => {
      this.receiving = null;
      if (this.handle !== 0) this.process();
    });
  }

  /** Processes what has arrived, and calls the listeners. start() does it. */
  process(): void {
    const { native, scratch } = this;
    const { functions } = native;
    functions.reckoner_server_receive(this.live(), this.now());
    while (this.handle !== 0 && functions.reckoner_server_poll_event(this.handle, scratch.event) === c.resultCode.ok) this.raise();
    while (this.handle !== 0 && functions.reckoner_server_poll_message(this.handle, scratch.message) === c.resultCode.ok) {
      const { sender, bytes, size, hasTime, timeS } = native.read(scratch.message, c.reckoner_message);
      this.emit('message', { client: sender, message: new Message(native.copy(bytes, size), hasTime ? timeS : undefined) });
    }
  }

  private raise(): void {
    const { kind, client, entity, text } = this.native.read(this.scratch.event, c.reckoner_server_event);
    const reason = this.native.text(text) ?? '';
    const name = nameOf(c.serverEventKind, kind);
    switch (name) {
      case 'clientJoined': case 'clientBack': {
        const identity = this.identity(client);
        if (identity) this.logins.limit(identity.clientId, this.options.sessionsPerClient ?? 1);
        return name === 'clientJoined' ? this.emit(name, { client, identity }) : this.emit(name, { client });
      }
      case 'clientLeft': return this.emit(name, { client, reason });
      case 'clientRefused': return this.emit(name, { reason });
      case 'ownerCorrected': case 'ownerRefused': return this.emit(name, { client, entity });
      case 'clientLost': return this.emit(name, { client });
      default: return; // of a later version
    }
  }

  /** What authenticate() has returned for a client. */
  identity(client: ClientId): { clientId: number; userData: Uint8Array } | undefined {
    const arena = new Arena(this.native);
    try {
      const out = arena.room(8);
      const user = arena.room(c.byteCount.userBytes);
      if (this.native.functions.reckoner_server_identity(this.live(), client, out, user) !== c.resultCode.ok) return undefined;
      return { clientId: this.native.readId(out), userData: this.native.copy(user, c.byteCount.userBytes) };
    } finally {
      arena.free();
    }
  }
  /** All clients that have a session, in the order of joining. */
  get clients(): ClientId[] {
    return this.list(4, (at, capacity, count) => this.native.functions.reckoner_server_clients(this.live(), at, capacity, count),
      (at) => this.native.view.getUint32(at, true));
  }
  /** Ends the session of a client, which is told the reason and does not reconnect. Its token is no longer valid. */
  kick(client: ClientId, reason = ''): void {
    const arena = new Arena(this.native);
    try {
      this.check(this.native.functions.reckoner_server_kick(this.live(), client, arena.text(reason)), 'kick');
    } finally {
      arena.free();
    }
  }
  /** A client's point of view, from which distances are measured (interestRadiusM). */
  setView(client: ClientId, eye: Vector): void {
    this.check(this.native.functions.reckoner_server_set_view(this.live(), client, this.vector(eye)), 'setView');
  }

  // ---- ticks

  /** Calls `step` for each tick, when it is due, and sends what it has changed. */
  start(step: (tick: number, time: number) => void): void {
    if (this.loop) throw new ReckonerError('the server runs already', 'errorRefused');
    const run = () => {
      if (this.handle === 0) return;
      this.process();
      for (let i = 0; i < mostTicksAtOnce && this.handle !== 0; ++i) {
        const { tick, time } = this.nextTick;
        if (time > this.now()) break;
        step(tick, time);
        this.tick();
      }
      if (this.handle !== 0) this.loop = setTimeout(run, Math.max(0, (this.nextTick.time - this.now()) * 1000));
    };
    this.loop = setTimeout(run);
  }
  /** Sends what was changed since the last tick. For a game with a loop of its own; start() does it. */
  tick(): void {
    this.check(this.native.functions.reckoner_server_tick(this.live(), this.now()), 'tick');
  }
  get nextTick(): { tick: number; time: number } {
    const { out } = this.scratch;
    this.check(this.native.functions.reckoner_server_next_tick(this.live(), out, out + 8), 'nextTick');
    return { tick: this.native.view.getUint32(out, true), time: this.native.view.getFloat64(out + 8, true) };
  }
  /** Ends all sessions, after the reliable messages that clients still lack, but at most `seconds` later, and closes. */
  async close(seconds = 1): Promise<void> {
    if (this.handle === 0) return;
    clearTimeout(this.loop);
    this.native.functions.reckoner_server_shutdown(this.handle);
    const end = Date.now() + seconds * 1000;
    do {
      this.process();
      await new Promise((resolve) => setTimeout(resolve, 10));
    } while (this.handle !== 0 && this.stats.closing > 0 && Date.now() < end);
    if (this.handle === 0) return;
    this.native.functions.reckoner_server_destroy(this.handle);
    this.handle = 0;
    if (this.receiving) clearImmediate(this.receiving);
    for (const stop of this.stopListening.splice(0)) stop();
  }

  // ---- entities

  spawn(archetype: string, state: Partial<State> = {}, { name = '', frame = 0 }: SpawnOptions = {}): EntityId {
    const handle = this.live();
    const index = this.archetypeIndex(archetype);
    const arena = new Arena(this.native);
    try {
      writeState(this.native, this.scratch.state, state);
      this.check(this.native.functions.reckoner_server_spawn(handle, index, arena.text(name), this.scratch.state, BigInt(frame), this.scratch.out), 'spawn');
    } finally {
      arena.free();
    }
    const entity = this.native.readId(this.scratch.out);
    this.archetypeOf.set(entity, index);
    return entity;
  }
  /** Adds an entity that lives for seconds, such as a projectile. */
  spawnShortLived(archetype: string, state: Partial<State>, { endTime, data = new Uint8Array(), predictedBy = 0, key = 0, frame = 0 }: ShortLivedOptions = {}): EntityId {
    const handle = this.live();
    const index = this.archetypeIndex(archetype);
    const arena = new Arena(this.native);
    try {
      const end = arena.room(8);
      if (endTime !== undefined) this.native.view.setFloat64(end, endTime, true);
      writeState(this.native, this.scratch.state, state);
      this.check(this.native.functions.reckoner_server_spawn_short_lived(handle, index, this.scratch.state, endTime === undefined ? 0 : end,
        arena.bytes(data), data.length, predictedBy, key, BigInt(frame), this.scratch.out), 'spawnShortLived');
    } finally {
      arena.free();
    }
    return this.native.readId(this.scratch.out);
  }
  /** Tells a client that what it has predicted with this key is not spawned. */
  refusePrediction(client: ClientId, key: number): void {
    this.check(this.native.functions.reckoner_server_refuse_prediction(this.live(), client, key), 'refusePrediction');
  }
  despawn(entity: EntityId): void {
    this.check(this.native.functions.reckoner_server_despawn(this.live(), BigInt(entity)), 'despawn');
    this.archetypeOf.delete(entity);
  }
  /** Sets the true state at the next tick. */
  move(entity: EntityId, state: Partial<State>): void {
    writeState(this.native, this.scratch.state, state);
    this.check(this.native.functions.reckoner_server_move(this.live(), BigInt(entity), this.scratch.state), 'move');
  }
  /** Like move(), after a jump, over which clients do not blend. */
  teleport(entity: EntityId, state: Partial<State>): void {
    writeState(this.native, this.scratch.state, state);
    this.check(this.native.functions.reckoner_server_teleport(this.live(), BigInt(entity), this.scratch.state), 'teleport');
  }
  /** The state at the next tick. */
  state(entity: EntityId): State {
    this.check(this.native.functions.reckoner_server_state(this.live(), BigInt(entity), this.scratch.state), 'state');
    return readState(this.native, this.scratch.state);
  }
  /** All entities, or those whose position is at most `radiusM` from `centre`. */
  entities(near?: { centre: Vector; radiusM: number }): EntityId[] {
    const { functions } = this.native;
    return this.list(8, (at, capacity, count) => near
      ? functions.reckoner_server_entities_near(this.live(), this.vector(near.centre), near.radiusM, at, capacity, count)
      : functions.reckoner_server_entities(this.live(), at, capacity, count), (at) => this.native.readId(at));
  }
  /** Puts an entity into the frame of another one (a passenger on a ship); 0: the world. */
  enterFrame(entity: EntityId, frame: EntityId): void {
    this.check(this.native.functions.reckoner_server_enter_frame(this.live(), BigInt(entity), BigInt(frame)), 'enterFrame');
  }
  setBoardable(entity: EntityId, boardable: boolean): void {
    this.check(this.native.functions.reckoner_server_set_boardable(this.live(), BigInt(entity), boardable ? 1 : 0), 'setBoardable');
  }
  /** Whether an entity is relevant for a client; 0: for all. */
  setRelevance(client: ClientId, entity: EntityId, relevance: c.Relevance): void {
    this.check(this.native.functions.reckoner_server_set_relevance(this.live(), client, BigInt(entity), valueOf('relevance', c.relevance, relevance)), 'setRelevance');
  }
  setEntityGroups(entity: EntityId, groups: number): void {
    this.check(this.native.functions.reckoner_server_set_entity_groups(this.live(), BigInt(entity), groups), 'setEntityGroups');
  }
  setClientGroups(client: ClientId, groups: number): void {
    this.check(this.native.functions.reckoner_server_set_client_groups(this.live(), client, groups), 'setClientGroups');
  }

  setField(entity: EntityId, name: string, value: FieldValue): void {
    const [index, field] = this.fieldOf(entity, name);
    writeValue(this.native, this.scratch.value, field, value);
    this.check(this.native.functions.reckoner_server_set_field(this.live(), BigInt(entity), index, this.scratch.value), 'setField');
  }
  /** The value as clients receive it. */
  field(entity: EntityId, name: string): FieldValue {
    const [index] = this.fieldOf(entity, name);
    this.check(this.native.functions.reckoner_server_field(this.live(), BigInt(entity), index, this.scratch.value), 'field');
    return readValue(this.native, this.scratch.value);
  }

  /** Gives an entity to a client, which then moves it within these rules. */
  give(entity: EntityId, owner: ClientId, { policy, gone, ...numbers }: OwnershipRules = {}): void {
    const { native } = this;
    const arena = new Arena(native);
    try {
      const rules = arena.struct(c.reckoner_ownership_rules);
      native.functions.reckoner_ownership_rules_init(rules, c.reckoner_ownership_rules.size);
      native.write(rules, c.reckoner_ownership_rules, numbers);
      if (policy) native.write(rules, c.reckoner_ownership_rules, { policy: valueOf('policy', c.ownerPolicy, policy) });
      if (gone) native.write(rules, c.reckoner_ownership_rules, { gone: valueOf('gone', c.ownerGone, gone) });
      this.check(native.functions.reckoner_server_give(this.live(), BigInt(entity), owner, rules), 'give');
    } finally {
      arena.free();
    }
  }
  revoke(entity: EntityId): void {
    this.check(this.native.functions.reckoner_server_revoke(this.live(), BigInt(entity)), 'revoke');
  }
  /** The owner of an entity; undefined if no client owns it. */
  owner(entity: EntityId): ClientId | undefined {
    const result = this.native.functions.reckoner_server_owner(this.live(), BigInt(entity), this.scratch.out);
    this.check(result, 'owner');
    return result === c.resultCode.ok ? this.native.view.getUint32(this.scratch.out, true) : undefined;
  }

  /** Lets a client predict an entity, such as the player's own body. The game steps it with input() in each tick. */
  letPredict(entity: EntityId, client: ClientId, tolerances: Partial<Pick<c.PredictionRules, 'positionM' | 'angleRad'>> = {}): void {
    const { native } = this;
    const arena = new Arena(native);
    try {
      const rules = arena.struct(c.reckoner_prediction_rules);
      native.functions.reckoner_prediction_rules_init(rules, c.reckoner_prediction_rules.size);
      native.write(rules, c.reckoner_prediction_rules, tolerances);
      this.check(native.functions.reckoner_server_let_predict(this.live(), BigInt(entity), client, rules), 'letPredict');
    } finally {
      arena.free();
    }
  }
  stopPrediction(entity: EntityId, client: ClientId): void {
    this.check(this.native.functions.reckoner_server_stop_prediction(this.live(), BigInt(entity), client), 'stopPrediction');
  }
  /** What a player does in the next tick. Call it once for each client and tick. */
  input(client: ClientId): PlayerInput {
    const { native, scratch } = this;
    this.check(native.functions.reckoner_server_input(this.live(), client, scratch.input), 'input');
    const { bytes, size, repeated, seenS } = native.read(scratch.input, c.reckoner_player_input);
    return { bytes: native.copy(bytes, size), repeated, seenS };
  }
  /** Bytes that belong to the exact state of a predicted entity, at most 128. */
  setGameState(entity: EntityId, bytes: Uint8Array): void {
    const arena = new Arena(this.native);
    try {
      this.check(this.native.functions.reckoner_server_set_game_state(this.live(), BigInt(entity), arena.bytes(bytes), bytes.length), 'setGameState');
    } finally {
      arena.free();
    }
  }

  // ---- messages

  /** Sends to one client. */
  send(client: ClientId, payload: Payload, options: SendOptions = {}): void {
    this.deliver(payload, options, 'send', (...message) => this.native.functions.reckoner_server_send(this.live(), client, ...message));
  }
  /** Sends to all clients, to some, to those near a point, or to those that see an entity. Returns their number. */
  broadcast(payload: Payload, recipients: Recipients = {}, options: SendOptions = {}): number {
    const { functions } = this.native;
    const { except = 0 } = recipients;
    const { out } = this.scratch;
    this.native.view.setUint32(out, 0, true);
    this.deliver(payload, options, 'broadcast', (...message) => {
      if ('clients' in recipients) {
        const arena = new Arena(this.native);
        try {
          const list = arena.room(4 * recipients.clients.length);
          recipients.clients.forEach((client, i) => this.native.view.setUint32(list + 4 * i, client, true));
          return functions.reckoner_server_broadcast_listed(this.live(), list, recipients.clients.length, except, ...message, out);
        } finally {
          arena.free();
        }
      }
      if ('centre' in recipients) return functions.reckoner_server_broadcast_within(this.live(), this.vector(recipients.centre), recipients.radiusM, except, ...message, out);
      if ('seeing' in recipients) return functions.reckoner_server_broadcast_seeing(this.live(), BigInt(recipients.seeing), except, ...message, out);
      return functions.reckoner_server_broadcast(this.live(), except, ...message, out);
    });
    return this.native.view.getUint32(out, true);
  }
  private deliver(payload: Payload, { delivery = 'reliable', time }: SendOptions, what: string,
    send: (bytes: Pointer, size: number, delivery: number, time: Pointer) => number): void {
    const bytes = bytesOf(payload);
    const arena = new Arena(this.native);
    try {
      const at = arena.room(8);
      if (time !== undefined) this.native.view.setFloat64(at, time, true);
      this.check(send(arena.bytes(bytes), bytes.length, valueOf('delivery', c.delivery, delivery), time === undefined ? 0 : at), what);
    } finally {
      arena.free();
    }
  }

  /** Counters since the server was made. */
  get stats(): c.ServerStats {
    return this.readStats(c.reckoner_server_stats, (at) => this.native.functions.reckoner_server_get_stats(this.live(), at)) as unknown as c.ServerStats;
  }
  /** Figures of one client's session; undefined if it has none. */
  sessionStats(client: ClientId): c.SessionStats | undefined {
    return this.readStats(c.reckoner_session_stats, (at) => this.native.functions.reckoner_server_get_session_stats(this.live(), client, at)) as unknown as c.SessionStats | undefined;
  }

  // ---- helpers

  private readStats(layout: c.Layout, read: (at: Pointer) => number): Record<string, unknown> | undefined {
    const arena = new Arena(this.native);
    try {
      const at = arena.struct(layout);
      const result = read(at);
      this.check(result, 'stats');
      return result === c.resultCode.ok ? this.native.read(at, layout) : undefined;
    } finally {
      arena.free();
    }
  }
  private list(bytes: number, write: (at: Pointer, capacity: number, count: Pointer) => number, read: (at: Pointer) => number): number[] {
    for (let capacity = 64; ; capacity *= arrayGrowth) {
      const arena = new Arena(this.native);
      try {
        const count = arena.room(4);
        const at = arena.room(bytes * capacity);
        const result = write(at, capacity, count);
        if (result === c.resultCode.errorCapacity) continue;
        this.check(result, 'list');
        return Array.from({ length: this.native.view.getUint32(count, true) }, (_, i) => read(at + bytes * i));
      } finally {
        arena.free();
      }
    }
  }
  private vector(values: Vector): Pointer {
    this.native.write(this.scratch.state, c.reckoner_state, { position: values });
    return this.scratch.state;
  }
  private archetypeIndex(name: string): number {
    const index = this.options.archetypes.findIndex((archetype) => archetype.name === name);
    if (index < 0) throw new ReckonerError(`there is no archetype ${name}`, 'errorUnknown');
    return index;
  }
  private fieldOf(entity: EntityId, name: string): ReturnType<typeof findField> {
    const archetype = this.options.archetypes[this.archetypeOf.get(entity) ?? -1];
    if (!archetype) throw new ReckonerError(`there is no entity ${entity}`, 'errorUnknown');
    return findField(archetype, name);
  }
  private live(): Pointer {
    if (this.handle === 0) throw new ReckonerError('the server is closed', 'closed');
    return this.handle;
  }
  private check(result: number, what: string): void {
    check(this.native, result, what, result === c.resultCode.errorUnknown || result === c.resultCode.errorRefused
      ? this.native.functions.reckoner_server_call_error(this.handle) : 0);
  }
}

/** Makes a server. Call listen() and start(). */
export const createServer = (options: ServerOptions): Promise<Server> => Server.create(options);
