// SPDX-License-Identifier: MIT
import { Emitter } from '../emitter.js';
import * as c from '../generated.js';
import type { Pointer } from '../generated.js';
import { Arena, type ModuleSource, nameOf, Native, ReckonerError, valueOf } from '../native.js';
import type { Path } from '../channel.js';
import { type Connection, type Transport, webSocketTransport } from '../transport.js';
import {
  type ArchetypeOptions, bytesOf, check, type EntityId, type FieldValue, findField, Message, type Payload, readState, readValue,
  type SendOptions, type State, type Vector, writeArchetypes, writeState,
} from '../values.js';

interface Functions extends c.ClientFunctions {
  reckoner_web_network(client: Pointer): Pointer;
  reckoner_web_opened(client: Pointer, connection: number, token: Pointer, bytes: number): void;
  reckoner_web_room(client: Pointer, bytes: number): Pointer;
  reckoner_web_received(client: Pointer, connection: number, bytes: number, now_s: number): void;
  reckoner_web_path(client: Pointer, connection: number, bytes: number): void;
  reckoner_web_closed(client: Pointer, connection: number): void;
  reckoner_web_refused(client: Pointer): number;
  reckoner_web_frame(client: Pointer, picture: Pointer): number;
  reckoner_web_archetype(client: Pointer, entity: number): number;
}

/** What admits a client: the bytes of a token file, or up to 1024 bytes or a text, such as a JWT, for a server with a check
 * of its own. */
export type Token = Uint8Array | string;

type Numbers = Omit<c.ClientConfig, 'archetypeCount' | 'port' | 'insecure' | 'game' | 'mode' | 'receiveThread' | 'logLeast' | 'reconnects' | 'blendCurve'>;
/** Options of connect(). Times are in seconds. docs/REFERENCE.md lists the defaults. */
export interface ConnectOptions extends Partial<Numbers> {
  /** The same, in the same order, as on the server. */
  archetypes: readonly ArchetypeOptions[];
  /** A token is valid once. To reconnect to a server with tokens, pass a function: it is called for each connection. */
  token?: Token | (() => Token | Promise<Token>);
  /** Which instant to show: 'present' (default), 'ahead' for a predicted player, or 'adaptive' and 'delayed'. */
  mode?: c.Mode;
  blendCurve?: c.BlendCurve;
  /** true; false: the client is closed when its connection is lost. */
  reconnect?: boolean;
  /** Ends the attempt to connect. */
  signal?: AbortSignal;
  /** WebSockets by default. */
  transport?: Transport;
  /** false: everything travels over the WebSocket. By default, a page uses a data channel beside it where it can. */
  dataChannel?: boolean;
  /** The time of a monotonic clock, ms; by default performance.now(), which requestAnimationFrame uses, too. */
  clock?: () => number;
  /** Where the WebAssembly module is; by default beside this file. */
  wasm?: ModuleSource;
}

/** A picture. Its arrays belong to the client, and each frame() overwrites them. */
export interface Frame {
  /** Number of entities; the arrays are longer. */
  count: number;
  /** Ids of the entities. */
  ids: Float64Array;
  /** x, y, z of each, m. */
  positions: Float64Array;
  /** x, y, z, w of each. */
  quaternions: Float32Array;
  /** Server time of the picture, s; 0 before the first one. */
  time: number;
}

/** A predicted entity, as its game steps it. */
export interface Body {
  readonly entity: EntityId;
  state: { [Member in keyof State]: number[] };
  /** Bytes of the game that belong to the exact state, at most 128: what the server sets with setGameState(). */
  gameState: Uint8Array;
}
/** The player's own body: stepped here at once, and by the server with the same inputs. */
export interface Prediction {
  /** What the player does now, at most 64 bytes. */
  input(): Uint8Array;
  /** Advances all predicted bodies by one tick of the server, with the player's input for that tick. */
  step(bodies: Body[], input: Uint8Array, tick: number): void;
}

export interface Entity {
  entity: EntityId;
}
export interface ClientEvents {
  joined: object;
  /** `predicted`: what predictSpawn() returned for this entity. */
  spawned: Entity & { name: string; archetype: string; predicted: EntityId | undefined };
  despawned: Entity;
  teleported: Entity;
  /** The pose jumped after a silence or a pause. */
  snapped: Entity;
  fieldsChanged: Entity & { fields: string[] };
  /** This client owns the entity: continue from owned(), and call move(). */
  given: Entity;
  revoked: Entity;
  /** The server has refused the last moves: continue from owned(). */
  corrected: Entity;
  predictionBegan: Entity;
  predictionEnded: Entity;
  predictionFailed: Entity;
  message: Message;
  /** State travels in another way from now on. `reason`: one sentence. */
  transportChanged: { transport: Path; reason: string };
  /** The connection is lost; the client reconnects. What is shown comes to rest. */
  lost: { reason: string };
  /** Back in the same session; no reliable message is lost. */
  resumed: object;
  /** Back in a new session: all entities are new. */
  restarted: object;
  serverClosed: object;
  /** The last event. The client does not come back. */
  closed: Closed;
}
export interface Closed {
  /** 'left': by leave(). 'refused': by the server, for example a kick or another version. 'disconnected': everything else. */
  why: 'left' | 'refused' | 'disconnected';
  /** One sentence. */
  reason: string;
}

const timerMs = 100;
const farewellMs = 2000;
const whyBytes = 512;

/** A token as the wire carries it: a fixed size, so that its length says nothing. */
function padded(token: Uint8Array): Uint8Array {
  if (token.length === 0) return token;
  if (token.length > c.byteCount.tokenBytes) throw new ReckonerError(`it has ${token.length} bytes, and at most ${c.byteCount.tokenBytes} are allowed`, 'errorArgument');
  const bytes = new Uint8Array(c.byteCount.tokenBytes);
  bytes.set(token);
  return bytes;
}

/** A client of a server. Use connect(). */
export class Client extends Emitter<ClientEvents> {
  private native!: Native<Functions>;
  private handle: Pointer = 0;
  private connection: Connection | null = null;
  private number = 0; // of the newest connection
  private timer: ReturnType<typeof setInterval> | undefined;
  private localS = 0;
  private ended: Closed | null = null;
  private leaving = false;
  private waits = false; // events wait until the program has its client
  private reason = ''; // why the token could not be had
  private readonly scratch = { event: 0, message: 0, state: 0, value: 0, picture: 0, out: 0, step: 0, correction: 0, input: 0, gameState: 0 };
  private readonly picture: Frame = { count: 0, ids: new Float64Array(), positions: new Float64Array(), quaternions: new Float32Array(), time: 0 };
  private pictureCapacity = 0;
  private pictureBuffer: ArrayBuffer | null = null;
  private pictureAt = 0;
  private readonly archetypeOf = new Map<EntityId, number>();
  private prediction: Prediction | null = null;
  private readonly bodies = new Map<EntityId, Body>();
  private readonly clock: () => number;
  private readonly dialer: Transport;
  private path: Path = 'websocket';

  private constructor(private readonly address: string, private readonly options: ConnectOptions) {
    super();
    this.clock = options.clock ?? (() => performance.now());
    this.dialer = options.transport ?? webSocketTransport(undefined, options.dataChannel === false ? { peerConnection: null } : {});
  }

  /** connect() */
  static async connect(address: string, options: ConnectOptions): Promise<Client> {
    const client = new Client(address, options);
    await client.start(options.wasm ?? new URL('./reckoner_client.wasm', import.meta.url));
    return client;
  }

  private async start(source: ModuleSource): Promise<void> {
    this.options.signal?.throwIfAborted();
    this.native = await Native.start<Functions>(source, {
      open: (_network: Pointer, connection: number) => this.open(connection),
      random: () => Math.random(),
      send: (_network: Pointer, message: Pointer, bytes: number) =>
        this.connection?.send(new Uint8Array(this.native.buffer, message, bytes)) ? 1 : 0,
    });
    this.create();
    const { native, scratch } = this;
    scratch.event = native.struct(c.reckoner_client_event);
    scratch.message = native.struct(c.reckoner_message);
    scratch.correction = native.struct(c.reckoner_correction);
    scratch.step = native.struct(c.reckoner_prediction_step);
    scratch.state = native.allocate(c.reckoner_state.size);
    scratch.value = native.allocate(c.reckoner_value.size);
    scratch.picture = native.allocate(40);
    scratch.out = native.allocate(16);
    scratch.input = native.allocate(c.byteCount.maxInputBytes);
    scratch.gameState = native.allocate(c.byteCount.maxGameStateBytes);
    await new Promise<void>((resolve, reject) => {
      const stop = () => {
        this.close({ why: 'left', reason: 'the attempt to connect was aborted' });
        reject(this.options.signal!.reason);
      };
      this.options.signal?.addEventListener('abort', stop, { once: true });
      const settle = () => this.options.signal?.removeEventListener('abort', stop);
      const joined = this.on('joined', () => {
        joined();
        settle();
        resolve();
        // The program adds its listeners after `await connect()`, and they miss no event.
        this.waits = true;
        setTimeout(() => {
          this.waits = false;
          this.update();
        });
      });
      this.on('closed', ({ reason }) => (settle(), reject(new ReckonerError(`${this.address}: ${reason}`, 'closed'))));
      // For reconnects and a picture that is not drawn. Browsers slow the timers of hidden pages; docs/web.md.
      this.timer = setInterval(() => this.update(), timerMs);
      this.update();
    });
  }

  private create(): void {
    const { native } = this;
    const { archetypes, token, mode, blendCurve, reconnect = true, signal, transport, dataChannel, clock, wasm, ...numbers } = this.options;
    const arena = new Arena(native);
    try {
      const config = arena.struct(c.reckoner_client_config);
      native.functions.reckoner_client_config_init(config, c.reckoner_client_config.size);
      native.write(config, c.reckoner_client_config, {
        ...numbers, insecure: 1, reconnects: reconnect, archetypeCount: archetypes.length, archetypes: writeArchetypes(native, arena, archetypes),
      });
      if (mode) native.write(config, c.reckoner_client_config, { mode: valueOf('mode', c.mode, mode) });
      if (blendCurve) native.write(config, c.reckoner_client_config, { blendCurve: valueOf('blendCurve', c.blendCurve, blendCurve) });
      const out = arena.room(8);
      const why = arena.room(whyBytes);
      const result = native.functions.reckoner_client_create(config, out, why, whyBytes);
      if (result < 0) throw new ReckonerError(native.text(why) || native.text(native.functions.reckoner_error_text(result))!, nameOf(c.resultCode, result) ?? 'errorInternal');
      this.handle = native.view.getUint32(out, true);
    } finally {
      arena.free();
    }
  }

  // ---- the connection

  // The C library calls this, so this may not call it back at once.
  private open(connection: number): void {
    const old = this.connection;
    this.connection = null;
    this.number = connection; // so that what the old one still says has no effect
    old?.close();
    void this.openLater(connection);
  }

  private async openLater(connection: number): Promise<void> {
    let token: Uint8Array;
    try {
      const { token: given = new Uint8Array() } = this.options;
      token = padded(bytesOf(await (typeof given === 'function' ? given() : given)));
      this.reason = '';
      if (this.isNewest(connection)) this.noteMoved(connection, 0, 'the connection is new');
    } catch (error) {
      this.reason = `the token could not be had: ${error instanceof Error ? error.message : error}`;
      if (this.isNewest(connection)) this.noteClosed(connection);
      return;
    }
    if (!this.isNewest(connection)) return;
    try {
      this.connection = this.dialer.open(this.address, {
        opened: () => {
          if (!this.isNewest(connection)) return;
          const arena = new Arena(this.native);
          this.native.functions.reckoner_web_opened(this.handle, connection, arena.bytes(token), token.length);
          arena.free();
        },
        received: (message) => this.isNewest(connection) && this.receive(connection, message),
        moved: (bytes, reason) => this.noteMoved(connection, bytes, reason),
        closed: () => this.isNewest(connection) && this.noteClosed(connection),
      });
    } catch (error) {
      this.reason = error instanceof Error ? error.message : String(error);
      if (this.isNewest(connection)) this.noteClosed(connection);
    }
  }

  private noteMoved(connection: number, bytes: number, reason: string): void {
    if (connection !== this.number) return;
    if (this.handle !== 0) this.native.functions.reckoner_web_path(this.handle, connection, bytes);
    const path = bytes === 0 ? 'websocket' : 'data-channel';
    if (path === this.path) return;
    this.path = path;
    if (!this.ended) this.emit('transportChanged', { transport: path, reason });
  }

  private isNewest(connection: number): boolean {
    return this.handle !== 0 && connection === this.number;
  }

  private receive(connection: number, message: Uint8Array): void {
    const { native } = this;
    const room = native.functions.reckoner_web_room(this.handle, message.length);
    native.bytes.set(message, room);
    native.functions.reckoner_web_received(this.handle, connection, message.length, this.clock() / 1000);
    this.update(); // acknowledges at once, also in a hidden page
  }

  private noteClosed(connection: number): void {
    const refused = this.native.functions.reckoner_web_refused(this.handle) === 1;
    const { token } = this.options;
    this.native.functions.reckoner_web_closed(this.handle, connection);
    this.update();
    // The server has used up this token when the client joined, so that no further attempt can succeed.
    if (refused && this.handle !== 0 && this.status === 'reconnecting' && typeof token !== 'function')
      this.close({ why: 'refused', reason: 'the connection was lost, and the server does not accept the same token again; pass a function as token, which gets a new one' });
  }

  /** Processes what has arrived, and calls the listeners. frame() does it, too. */
  update(nowMs = this.clock()): void {
    if (this.handle === 0) return;
    this.localS = Math.max(this.localS, nowMs / 1000); // a picture's time is a little before the clock's
    this.native.functions.reckoner_client_update(this.handle, this.localS);
    this.dispatch();
    if (this.handle === 0) return;
    const status = this.native.functions.reckoner_client_status(this.handle);
    if (status === c.status.refused || status === c.status.disconnected) {
      const reason = this.leaving ? 'this client has left' : this.explain();
      this.close({ why: this.leaving ? 'left' : status === c.status.refused ? 'refused' : 'disconnected', reason });
    }
  }

  private explain(): string {
    const text = (this.native.text(this.native.functions.reckoner_client_refusal(this.handle)) || 'the connection has ended')
      .replace(/^the server does not answer; it /, 'the server '); // it has answered
    return this.reason === '' ? text : `${text} (${this.reason})`;
  }

  private close(closed: Closed): void {
    if (this.ended) return;
    this.ended = closed;
    clearInterval(this.timer);
    if (this.handle !== 0) this.native.functions.reckoner_client_destroy(this.handle);
    this.handle = 0;
    this.connection?.close();
    this.connection = null;
    this.picture.count = 0;
    this.emit('closed', closed);
  }

  private dispatch(): void {
    const { functions } = this.native;
    const { event, message } = this.scratch;
    while (!this.waits && this.handle !== 0 && functions.reckoner_client_poll_event(this.handle, event) === c.resultCode.ok) this.raise(event);
    while (!this.waits && this.handle !== 0 && functions.reckoner_client_poll_message(this.handle, message) === c.resultCode.ok) {
      const { view } = this.native;
      const { bytes, size, hasTime, timeS } = c.reckoner_message.members;
      const content = this.native.copy(view.getUint32(message + bytes[0], true), view.getUint32(message + size[0], true));
      this.emit('message', new Message(content, view.getInt32(message + hasTime[0], true) ? view.getFloat64(message + timeS[0], true) : undefined));
    }
  }

  private raise(at: Pointer): void {
    const { members } = c.reckoner_client_event;
    const kind = nameOf(c.clientEventKind, this.native.view.getInt32(at + members.kind[0], true));
    const entity = this.native.readId(at + members.entity[0]);
    switch (kind) {
      case 'joined': case 'resumed': case 'restarted': case 'serverClosed':
        return this.emit(kind, {});
      case 'lost':
        return this.emit('lost', { reason: this.explain() });
      case 'spawned': {
        const predicted = this.native.readId(at + members.predicted[0]) || undefined;
        this.archetypeOf.set(entity, this.native.functions.reckoner_web_archetype(this.handle, entity));
        return this.emit('spawned', { entity, name: this.name(entity) ?? '', archetype: this.archetype(entity) ?? '', predicted });
      }
      case 'despawned':
        this.emit('despawned', { entity });
        return void this.archetypeOf.delete(entity);
      case 'fieldsChanged': {
        const bits = this.native.view.getUint32(at + members.fields[0], true);
        const fields = this.definition(entity)?.fields ?? [];
        return this.emit('fieldsChanged', { entity, fields: fields.filter((_, i) => bits & (1 << i)).map((field) => field.name) });
      }
      case 'predictionEnded':
        this.bodies.delete(entity);
        return this.emit(kind, { entity });
      case 'disconnected': case undefined: // the status says why; later versions append kinds
        return;
      default:
        return this.emit(kind, { entity });
    }
  }

  private live(): Pointer {
    if (this.handle === 0) throw new ReckonerError(`the client is closed: ${this.ended?.reason ?? 'it has not joined'}`, 'closed');
    return this.handle;
  }
  private check(result: number, what: string): void {
    check(this.native, result, what, result === c.resultCode.errorUnknown || result === c.resultCode.errorRefused
      ? this.native.functions.reckoner_client_call_error(this.handle) : 0);
  }

  get status(): c.Status {
    if (this.handle === 0) return this.ended?.why === 'refused' ? 'refused' : 'disconnected';
    return nameOf(c.status, this.native.functions.reckoner_client_status(this.handle))!;
  }
  /** Why the client is closed; undefined while it is not. */
  get closed(): Closed | undefined {
    return this.ended ?? undefined;
  }

  /** Leaves the server for good, after the reliable messages that it still lacks. Takes a round trip, at most 2 s. */
  async leave(): Promise<void> {
    if (this.handle === 0) return;
    this.leaving = true;
    this.native.functions.reckoner_client_leave(this.handle);
    const done = new Promise<void>((resolve) => this.on('closed', () => resolve()));
    const limit = setTimeout(() => this.close({ why: 'left', reason: 'this client has left' }), farewellMs);
    this.update();
    await done;
    clearTimeout(limit);
  }

  // ---- the picture

  /** Processes what has arrived, steps predicted entities, and computes the picture at a time of the clock, ms.
   * Allocates nothing, except for arrived messages and events, and when the number of entities doubles. */
  frame(nowMs = this.clock()): Frame {
    this.update(nowMs);
    if (this.handle === 0) return this.picture;
    if (this.prediction) this.predictNow(this.prediction);
    const { native, picture } = this;
    const at = this.scratch.picture;
    if (native.functions.reckoner_web_frame(this.handle, at) !== c.resultCode.ok) {
      picture.count = 0;
      return picture;
    }
    this.dispatch(); // some events belong to the picture
    if (this.handle === 0) return picture;
    const { view } = native;
    const capacity = view.getUint32(at + 4, true);
    const ids = view.getUint32(at + 8, true);
    if (capacity !== this.pictureCapacity || this.pictureBuffer !== native.buffer || ids !== this.pictureAt) {
      this.pictureCapacity = capacity;
      this.pictureBuffer = native.buffer;
      this.pictureAt = ids;
      picture.ids = new Float64Array(native.buffer, ids, capacity);
      picture.positions = new Float64Array(native.buffer, view.getUint32(at + 12, true), 3 * capacity);
      picture.quaternions = new Float32Array(native.buffer, view.getUint32(at + 16, true), 4 * capacity);
    }
    picture.count = view.getUint32(at, true);
    picture.time = view.getFloat64(at + 24, true);
    return picture;
  }

  /** Freezes what is shown, for a menu. Afterwards it catches up without a jump. */
  pause(paused: boolean): void {
    this.check(this.native.functions.reckoner_client_set_paused(this.live(), paused ? 1 : 0), 'pause');
  }
  /** Changes which instant is shown, without a jump. */
  setMode(mode: c.Mode, settings: Partial<Pick<c.Playout, 'delayS' | 'maxDelayS' | 'blendS'>> & { blendCurve?: c.BlendCurve } = {}): void {
    const { blendCurve, ...numbers } = settings;
    const { native } = this;
    const arena = new Arena(native);
    try {
      const playout = arena.struct(c.reckoner_playout);
      native.functions.reckoner_playout_init(playout, c.reckoner_playout.size);
      native.write(playout, c.reckoner_playout, { ...numbers, mode: valueOf('mode', c.mode, mode) });
      if (blendCurve) native.write(playout, c.reckoner_playout, { blendCurve: valueOf('blendCurve', c.blendCurve, blendCurve) });
      this.check(native.functions.reckoner_client_set_playout(this.live(), playout), 'setMode');
    } finally {
      arena.free();
    }
  }
  /** Estimated server time at the last update, s; undefined before the first answer. */
  get serverTime(): number | undefined {
    const { out } = this.scratch;
    if (this.handle === 0 || this.native.functions.reckoner_client_server_time(this.handle, out) !== c.resultCode.ok) return undefined;
    return this.native.view.getFloat64(out, true);
  }

  // ---- entities

  /** The name of an entity that is shown or was just removed. */
  name(entity: EntityId): string | undefined {
    return this.handle === 0 ? undefined : this.native.text(this.native.functions.reckoner_client_name(this.handle, BigInt(entity))) ?? undefined;
  }
  /** The name of the archetype of an entity. */
  archetype(entity: EntityId): string | undefined {
    return this.definition(entity)?.name;
  }
  private definition(entity: EntityId): ArchetypeOptions | undefined {
    return this.options.archetypes[this.archetypeOf.get(entity) ?? -1];
  }
  /** The value of a field at the last shown instant; undefined if the entity is unknown. */
  field(entity: EntityId, name: string): FieldValue | undefined {
    const archetype = this.definition(entity);
    if (!archetype || this.handle === 0) return undefined;
    const [index] = findField(archetype, name);
    const result = this.native.functions.reckoner_client_field(this.handle, BigInt(entity), index, this.scratch.value);
    if (result === c.resultCode.errorUnknown || result === c.resultCode.nothing) return undefined;
    this.check(result, 'field');
    return readValue(this.native, this.scratch.value);
  }
  /** Motion without blends at a server time; undefined if it is not known. */
  motionAt(entity: EntityId, serverTimeS: number): State | undefined {
    const result = this.native.functions.reckoner_client_motion_at(this.live(), BigInt(entity), serverTimeS, this.scratch.state);
    return result === c.resultCode.ok ? readState(this.native, this.scratch.state) : undefined;
  }
  /** The origin of the coordinates from now on, m. */
  setOrigin(origin: Vector): void {
    this.native.write(this.scratch.state, c.reckoner_state, { position: origin });
    this.check(this.native.functions.reckoner_client_set_origin(this.live(), this.scratch.state), 'setOrigin');
  }

  /** The state from which to continue an owned entity; undefined if this client does not own it. */
  owned(entity: EntityId): State | undefined {
    const result = this.native.functions.reckoner_client_owned(this.live(), BigInt(entity), this.scratch.state);
    return result === c.resultCode.ok ? readState(this.native, this.scratch.state) : undefined;
  }
  /** Sets the state of an owned entity, in the world or in the frame of another entity. Call it for each picture. False: it
   * has no effect, because the entity was corrected, or has come to rest while the page was hidden. The event `corrected`
   * has said so: continue from owned(). */
  move(entity: EntityId, state: Partial<State>, frame: EntityId = 0): boolean {
    const handle = this.live();
    writeState(this.native, this.scratch.state, state);
    return this.moved(this.native.functions.reckoner_client_move_in(handle, BigInt(entity), this.scratch.state, BigInt(frame)), 'move');
  }
  private moved(result: number, what: string): boolean {
    if (result === c.resultCode.errorRefused && this.native.functions.reckoner_client_call_error(this.handle) === c.callError.eventNotPolled) {
      this.dispatch();
      return false;
    }
    this.check(result, what);
    return true;
  }
  /** Like move(), but the entity jumps there. The server must allow it (maxTeleportM). */
  teleport(entity: EntityId, state: Partial<State>, frame: EntityId = 0): boolean {
    const handle = this.live();
    writeState(this.native, this.scratch.state, state);
    return this.moved(this.native.functions.reckoner_client_teleport(handle, BigInt(entity), this.scratch.state, BigInt(frame)), 'teleport');
  }
  /** Replaces what is shown of an entity, for example after the game pushed it out of a wall. */
  correct(entity: EntityId, shown: Partial<State>): void {
    const handle = this.live();
    writeState(this.native, this.scratch.state, shown);
    this.check(this.native.functions.reckoner_client_correct(handle, BigInt(entity), this.scratch.state), 'correct');
  }
  /** Shows an entity at once that the server is expected to spawn for this key, such as the player's projectile. */
  predictSpawn(archetype: string, state: Partial<State>, key: number, patienceS = 1): EntityId {
    const handle = this.live();
    const index = this.options.archetypes.findIndex((one) => one.name === archetype);
    if (index < 0) throw new ReckonerError(`there is no archetype ${archetype}`, 'errorUnknown');
    writeState(this.native, this.scratch.state, state);
    this.check(this.native.functions.reckoner_client_predict_spawn(handle, index, this.scratch.state, key, patienceS, this.scratch.out), 'predictSpawn');
    const entity = this.native.readId(this.scratch.out);
    this.archetypeOf.set(entity, index);
    return entity;
  }

  /** Like correct(), for a hit that the game anticipates: the entity continues from there until a motion with the hit has
   * arrived, for at most `anticipatedS`. */
  anticipate(entity: EntityId, shown: Partial<State>, anticipatedS: number): void {
    const handle = this.live();
    writeState(this.native, this.scratch.state, shown);
    this.check(this.native.functions.reckoner_client_anticipate(handle, BigInt(entity), this.scratch.state, anticipatedS), 'anticipate');
  }
  /** What the server has sent with a short-lived entity, and the server time of its end; undefined for other entities. */
  shortLived(entity: EntityId): { data: Uint8Array; endTime: number } | undefined {
    const arena = new Arena(this.native);
    try {
      const at = arena.room(16);
      if (this.native.functions.reckoner_client_short_lived(this.live(), BigInt(entity), at, at + 4, at + 8) !== c.resultCode.ok) return undefined;
      const { view } = this.native;
      return { data: this.native.copy(view.getUint32(at, true), view.getUint32(at + 4, true)), endTime: view.getFloat64(at + 8, true) };
    } finally {
      arena.free();
    }
  }

  // ---- messages

  send(payload: Payload, { delivery = 'reliable', time }: SendOptions = {}): void {
    const handle = this.live();
    const bytes = bytesOf(payload);
    const arena = new Arena(this.native);
    try {
      if (time !== undefined) this.native.view.setFloat64(this.scratch.out, time, true);
      this.check(this.native.functions.reckoner_client_send(handle, arena.bytes(bytes), bytes.length,
        valueOf('delivery', c.delivery, delivery), time === undefined ? 0 : this.scratch.out), 'send');
      this.native.functions.reckoner_client_flush(handle);
    } finally {
      arena.free();
    }
  }

  // ---- the player's own body

  /** Steps what the server lets this client predict (letPredict()), from each frame() on. Null: no more. */
  predict(prediction: Prediction | null): void {
    this.prediction = prediction;
  }

  private predictNow(prediction: Prediction): void {
    const { native, scratch } = this;
    const { functions } = native;
    while (functions.reckoner_client_poll_correction(this.handle, scratch.correction) === c.resultCode.ok) {
      const correction = native.read(scratch.correction, c.reckoner_correction);
      this.bodies.clear();
      for (let i = 0; i < correction.entityCount; ++i) {
        const at = correction.entities + i * c.reckoner_corrected_entity.size;
        const { entity, state, gameState, gameStateSize } = native.read(at, c.reckoner_corrected_entity);
        this.bodies.set(entity, { entity, state, gameState: native.copy(gameState, gameStateSize) });
      }
      const steps = Array.from({ length: correction.stepCount }, (_, i) => this.readStep(correction.steps + i * c.reckoner_prediction_step.size));
      for (const { tick, input } of steps) this.step(prediction, tick, input);
    }
    const input = prediction.input();
    if (input.length > c.byteCount.maxInputBytes) throw new ReckonerError(`an input has at most ${c.byteCount.maxInputBytes} bytes`, 'errorArgument');
    native.bytes.set(input, scratch.input);
    while (functions.reckoner_client_next_step(this.handle, scratch.input, input.length, scratch.step) === c.resultCode.ok) {
      const step = this.readStep(scratch.step);
      this.step(prediction, step.tick, step.input);
    }
  }
  private readStep(at: Pointer): { tick: number; input: Uint8Array } {
    const { tick, input, inputSize } = this.native.read(at, c.reckoner_prediction_step);
    return { tick, input: this.native.copy(input, inputSize) };
  }
  private step(prediction: Prediction, tick: number, input: Uint8Array): void {
    const { native, scratch } = this;
    const bodies = [...this.bodies.values()];
    prediction.step(bodies, input, tick);
    for (const { entity, state, gameState } of bodies) {
      writeState(native, scratch.state, state);
      native.bytes.set(gameState, scratch.gameState);
      native.functions.reckoner_client_predict(this.handle, BigInt(entity), tick, scratch.state, scratch.gameState, gameState.length);
    }
  }

  /** What state travels over. Messages of the game that must arrive always use the WebSocket. */
  get transport(): Path {
    return this.path;
  }
  /** Counters since the client was made. */
  get stats(): c.ClientStats {
    const arena = new Arena(this.native);
    try {
      const at = arena.struct(c.reckoner_client_stats);
      this.check(this.native.functions.reckoner_client_get_stats(this.live(), at), 'stats');
      return this.native.read(at, c.reckoner_client_stats) as unknown as c.ClientStats;
    } finally {
      arena.free();
    }
  }
}

/** Joins a server, for example at wss://game.example. Rejects with a ReckonerError that says in one sentence why not. */
export const connect = (address: string, options: ConnectOptions): Promise<Client> => Client.connect(address, options);
