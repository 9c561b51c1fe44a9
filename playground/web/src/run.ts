// SPDX-License-Identifier: MIT
// The result of a run, and what the page computes from it for drawing. Figures come from the module only.
import { packetFloats, poseFloats, type Shape } from './module.ts';
import type { RunResult } from './protocol.ts';

/** The figures of one method, with the names of the harness (docs/PROGRAMS.md). */
export type Figures = Record<string, any> & { method: string };

export class Run {
  readonly shape: Shape;
  readonly methods: string[] = [];
  readonly figures: Figures[] = [];
  /** Methods that have no result, and why. */
  readonly failed = new Map<string, string>();
  took_ms = 0;
  private readonly truth: Float32Array;
  private readonly tracks: Float32Array[] = [];
  private readonly datagrams: Float32Array[] = [];
  private readonly contents: Float32Array[] = [];

  constructor(result: RunResult) {
    this.shape = result.shape;
    this.truth = result.truth;
    this.add(result);
  }

  /** Adds the methods of another run with the same settings. */
  add(result: RunResult): void {
    const figures: Figures[] = JSON.parse(result.figures).runs;
    result.shape.methods.forEach((method, i) => {
      if (this.has(method)) return;
      this.methods.push(method);
      this.tracks.push(result.tracks[i]!);
      this.datagrams.push(result.packets[i]!);
      this.contents.push(result.parts[i]!);
      this.figures.push(...figures.filter((one) => one.method === method));
    });
    this.took_ms += result.took_ms;
  }

  has(method: string): boolean {
    return this.methods.includes(method);
  }
  figuresOf(method: string): Figures | undefined {
    return this.figures.find((one) => one.method === method);
  }
  get seconds(): number {
    return Math.max(0, this.shape.frames - 1) / this.shape.frame_rate_hz;
  }
  /** The poses of a method, or the truth for -1. */
  track(method: number): Float32Array {
    return method < 0 ? this.truth : this.tracks[method]!;
  }
  packets(method: number): Float32Array {
    return this.datagrams[method]!;
  }
  parts(method: number): Float32Array {
    return this.contents[method]!;
  }

  /** Writes the pose at `time_s` after the start to `out`, between two frames in a straight line. False: hidden. */
  pose(method: number, entity: number, time_s: number, out: Float64Array): boolean {
    const { frames, entities, frame_rate_hz } = this.shape;
    const track = this.track(method);
    const at = Math.min(Math.max(0, time_s * frame_rate_hz), frames - 1);
    const frame = Math.min(Math.floor(at), Math.max(0, frames - 2));
    const a = (frame * entities + entity) * poseFloats;
    const b = frame + 1 < frames ? a + entities * poseFloats : a;
    const share = at - frame;
    const from = Number.isFinite(track[a]) ? a : b;
    const to = Number.isFinite(track[b]) ? b : a;
    if (!Number.isFinite(track[from])) return false;  // hidden, or a run without frames
    // A teleport shows at once: nothing is drawn in between.
    const far = Math.hypot(track[to]! - track[from]!, track[to + 1]! - track[from + 1]!, track[to + 2]! - track[from + 2]!);
    const u = far > 5 ? (share < 1 ? 0 : 1) : share;
    const dot = track[from + 3]! * track[to + 3]! + track[from + 4]! * track[to + 4]! + track[from + 5]! * track[to + 5]! + track[from + 6]! * track[to + 6]!;
    for (let i = 0; i < poseFloats; ++i) {
      const sign = i >= 3 && dot < 0 ? -1 : 1;
      out[i] = track[from + i]! + (sign * track[to + i]! - track[from + i]!) * u;
    }
    return true;
  }

  /** Per frame: the distance to the truth, and the change of the shown velocity beyond the truth's, of an entity. */
  series(method: number, entity: number): { error: (number | null)[]; jerk: (number | null)[] } {
    const { frames, entities, frame_rate_hz } = this.shape;
    const shown = this.track(method);
    const truth = this.track(-1);
    const error: (number | null)[] = [];
    const jerk: (number | null)[] = [];
    const change = (track: Float32Array, frame: number): number => {
      if (frame < 2) return NaN;
      const c = (frame * entities + entity) * poseFloats;
      const b = c - entities * poseFloats;
      const a = b - entities * poseFloats;
      let sum = 0;
      for (let i = 0; i < 3; ++i) sum += (track[c + i]! - 2 * track[b + i]! + track[a + i]!) ** 2;
      return Math.sqrt(sum) * frame_rate_hz;
    };
    for (let frame = 0; frame < frames; ++frame) {
      const at = (frame * entities + entity) * poseFloats;
      const far = Math.hypot(shown[at]! - truth[at]!, shown[at + 1]! - truth[at + 1]!, shown[at + 2]! - truth[at + 2]!);
      error.push(Number.isNaN(far) ? null : far);
      const beyond = Math.max(0, change(shown, frame) - change(truth, frame));
      jerk.push(Number.isNaN(beyond) ? null : beyond);
    }
    return { error, jerk };
  }

  /** Bytes per second to the client at each frame, counted over the second around it. */
  bytes(method: number): number[] {
    const { frames, frame_rate_hz } = this.shape;
    const sums = new Float64Array(frames + 1);
    const packets = this.packets(method);
    for (let i = 0; i < packets.length; i += packetFloats) {
      if (packets[i + 3] !== 1) continue;
      const frame = Math.floor(packets[i]! * frame_rate_hz);
      if (frame >= 0 && frame < frames) sums[frame + 1]! += packets[i + 2]!;
    }
    for (let i = 1; i <= frames; ++i) sums[i]! += sums[i - 1]!;
    const half = Math.round(frame_rate_hz / 2);
    const out: number[] = [];
    for (let frame = 0; frame < frames; ++frame) {
      const from = Math.max(0, frame - half);
      const to = Math.min(frames, frame + half);
      out.push(((sums[to]! - sums[from]!) * frame_rate_hz) / Math.max(1, to - from));
    }
    return out;
  }
}
