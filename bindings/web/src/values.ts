// SPDX-License-Identifier: MIT
// Values that clients and servers share: states, archetypes, fields, messages.
import * as c from './generated.js';
import type { Pointer } from './generated.js';
import { Arena, type Native, ReckonerError, valueOf } from './native.js';

/** Id of an entity. An old id never means another entity. */
export type EntityId = number;
/** x, y, z. */
export type Vector = ArrayLike<number>;

/** Position and motion at one instant: SI units, right-handed coordinates. */
export interface State {
  /** m */
  position: Vector;
  /** m/s */
  velocity: Vector;
  /** m/s² */
  acceleration: Vector;
  /** Unit quaternion x, y, z, w, which rotates from body to world; the order of three.js. */
  orientation: ArrayLike<number>;
  /** rad/s, about the axes of the world */
  angularVelocity: Vector;
}

/** A value that every entity of an archetype has besides its motion, for example health. */
export type FieldOptions = { name: string } & (
  | { type: 'boolean'; initial?: boolean }
  /** `least` and `most` (0 and 255): the range, which determines the size on the wire. */
  | { type: 'integer'; least?: number; most?: number; initial?: number }
  /** Both ends round to `step` (0.001) between `least` and `most` (0 and 1). */
  | { type: 'real'; least?: number; most?: number; step?: number; initial?: number }
  /** At most `mostBytes` (64). */
  | { type: 'blob'; mostBytes?: number; initial?: Uint8Array });
export type FieldValue = boolean | number | Uint8Array;

type ArchetypeNumbers = Omit<c.Archetype, 'fieldCount' | 'hasOrientation' | 'neverReverses' | 'velocity' | 'floor' | 'wallCount'>;
/** What a kind of entity is: the same, in the same order, on the server and on every client. */
export interface ArchetypeOptions extends Partial<ArchetypeNumbers> {
  name: string;
  fields?: readonly FieldOptions[];
  /** true; false: the orientation is never sent. */
  hasOrientation?: boolean;
  /** false; true: prediction lets braking entities come to rest, as cars do. */
  neverReverses?: boolean;
  /** Where velocities come from. 'automatic': estimated from positions while the game leaves them at 0. */
  velocity?: c.VelocitySource;
  /** 'plane': entities are never shown below floorHeightM along floorUp. */
  floor?: 'none' | 'plane';
  /** Solid boxes, behind which entities are never shown. */
  walls?: readonly { centre: Vector; halfSize: Vector; orientation?: ArrayLike<number> }[];
}

interface CommonFunctions {
  reckoner_archetype_init(archetype: Pointer, structSize: number): void;
  reckoner_field_spec_init(spec: Pointer, structSize: number): void;
}

/** Writes archetypes into the memory of a module, and returns their address. */
export function writeArchetypes(native: Native<any>, arena: Arena, archetypes: readonly ArchetypeOptions[]): Pointer {
  const functions = native.functions as CommonFunctions;
  const layout = c.reckoner_archetype;
  const first = arena.struct(layout, archetypes.length);
  archetypes.forEach((given, i) => {
    const { name, fields = [], walls = [], hasOrientation, neverReverses, velocity, floor, ...numbers } = given;
    const at = first + i * layout.size;
    functions.reckoner_archetype_init(at, layout.size);
    native.write(at, layout, { ...numbers, hasOrientation, neverReverses, name: arena.text(name), fieldCount: fields.length, wallCount: walls.length });
    if (velocity) native.write(at, layout, { velocity: valueOf('velocity', c.velocitySource, velocity) });
    if (floor) native.write(at, layout, { floor: valueOf('floor', c.floorKind, floor) });
    if (walls.length) native.write(at, layout, { wallBoxes: writeWalls(native, arena, walls) });
    if (fields.length) native.write(at, layout, { fields: writeFields(native, arena, fields) });
  });
  return first;
}

function writeWalls(native: Native<any>, arena: Arena, walls: NonNullable<ArchetypeOptions['walls']>): Pointer {
  const { size } = c.reckoner_wall_box;
  const first = arena.struct(c.reckoner_wall_box, walls.length);
  walls.forEach((wall, i) => native.write(first + i * size, c.reckoner_wall_box, { orientation: [0, 0, 0, 1], ...wall }));
  return first;
}

function writeFields(native: Native<any>, arena: Arena, fields: readonly FieldOptions[]): Pointer {
  const layout = c.reckoner_field_spec;
  const first = arena.struct(layout, fields.length);
  fields.forEach((field, i) => {
    const at = first + i * layout.size;
    (native.functions as CommonFunctions).reckoner_field_spec_init(at, layout.size);
    native.write(at, layout, { type: valueOf('type', c.valueType, field.type), name: arena.text(field.name) });
    if (field.type === 'integer') native.write(at, layout, { integerLeast: field.least, integerMost: field.most });
    if (field.type === 'real') native.write(at, layout, { realLeast: field.least, realMost: field.most, realStep: field.step });
    if (field.type === 'blob') native.write(at, layout, { mostBytes: field.mostBytes });
    if (field.initial !== undefined) writeValue(native, at + layout.members.initial[0], field, field.initial);
  });
  return first;
}

/** Writes a value of a field at an address. */
export function writeValue(native: Native<any>, at: Pointer, field: FieldOptions, value: FieldValue): void {
  const layout = c.reckoner_value;
  const expected = { boolean: 'boolean', integer: 'number', real: 'number', blob: 'object' }[field.type];
  if (typeof value !== expected || (field.type === 'blob' && !(value instanceof Uint8Array)))
    throw new ReckonerError(`${field.name} is a field of type ${field.type}`, 'errorArgument');
  native.write(at, layout, { type: c.valueType[field.type] });
  if (value instanceof Uint8Array) {
    if (value.length > layout.members.blob[2]) throw new ReckonerError(`${field.name} has more than ${layout.members.blob[2]} bytes`, 'errorArgument');
    native.write(at, layout, { blobSize: value.length });
    native.bytes.set(value, at + layout.members.blob[0]);
  } else {
    native.write(at, layout, field.type === 'real' ? { real: value } : { integer: value });
  }
}

export function readValue(native: Native<any>, at: Pointer): FieldValue {
  const { members } = c.reckoner_value;
  const value = native.read(at, { size: 0, members: { type: members.type, blobSize: members.blobSize, integer: members.integer, real: members.real } });
  if (value.type === c.valueType.boolean) return value.integer !== 0;
  if (value.type === c.valueType.blob) return native.copy(at + members.blob[0], value.blobSize);
  return value.type === c.valueType.real ? value.real : value.integer;
}

const atRest = { position: [0, 0, 0], velocity: [0, 0, 0], acceleration: [0, 0, 0], orientation: [0, 0, 0, 1], angularVelocity: [0, 0, 0] };
/** Writes a state. Members that are not given are those of an entity at rest. */
export function writeState(native: Native<any>, at: Pointer, state: Partial<State>): void {
  native.write(at, c.reckoner_state, atRest);
  native.write(at, c.reckoner_state, state as Record<string, unknown>);
}
export function readState(native: Native<any>, at: Pointer): State & { position: number[]; velocity: number[]; acceleration: number[]; orientation: number[]; angularVelocity: number[] } {
  return native.read(at, c.reckoner_state) as any;
}

/** Index and definition of a field. */
export function findField(archetype: ArchetypeOptions, name: string): [number, FieldOptions] {
  const fields = archetype.fields ?? [];
  const index = fields.findIndex((field) => field.name === name);
  if (index < 0) throw new ReckonerError(`${archetype.name} has no field ${name}; it has ${fields.map((f) => f.name).join(', ') || 'none'}`, 'errorUnknown');
  return [index, fields[index]!];
}

/** Bytes of the game. Texts are sent as UTF-8. */
export type Payload = Uint8Array | string;
const encoder = new TextEncoder();
export const bytesOf = (payload: Payload): Uint8Array => (typeof payload === 'string' ? encoder.encode(payload) : payload);

/** How a message travels: 'reliable' in order, 'unreliable' at once or not at all (at most 1000 bytes). */
export interface SendOptions {
  /** 'reliable' */
  delivery?: c.Delivery;
  /** Server time, s: the receiver gets the message when the time that it shows reaches it. */
  time?: number;
}

const decoder = new TextDecoder();
/** A message of the game at the other end. It is not to be trusted. */
export class Message {
  constructor(readonly bytes: Uint8Array<ArrayBuffer>, readonly time: number | undefined) {}
  /** The bytes as UTF-8. */
  get text(): string {
    return decoder.decode(this.bytes);
  }
}

/** Throws the error of a C function, in one sentence. `reason` is the number of ..._call_error(). */
export function check(native: Native<any>, result: number, what: string, reason = 0): void {
  if (result >= 0) return;
  const functions = native.functions as c.ClientFunctions;
  const text = native.text(reason !== 0 ? functions.reckoner_call_error_text(reason) : functions.reckoner_error_text(result));
  const code = (Object.keys(c.resultCode) as c.ResultCode[]).find((name) => c.resultCode[name] === result) ?? 'errorInternal';
  throw new ReckonerError(`${what}: ${text}`, code);
}
