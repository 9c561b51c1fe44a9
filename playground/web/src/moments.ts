// SPDX-License-Identifier: MIT
// Finds the moments at which the truth turns or stops. There, methods differ most. Looks at the truth only, so that
// no method is favoured.
import { poseFloats } from './module.ts';
import type { Run } from './run.ts';

export interface Moment {
  entity: number;
  time_s: number;
  /** Change of the true velocity within `window_s`, m/s. */
  change_mps: number;
}

const window_s = 0.3;
const teleport_m = 5; // a larger step between two pictures is a teleport, as in Run.pose()

/** The moments of one entity or of all (-1), the strongest first, at least `apart_s` from each other and from the ends. */
export function moments(run: Run, entity: number, apart_s: number): Moment[] {
  const { frames, entities, frame_rate_hz } = run.shape;
  const truth = run.track(-1);
  const half = Math.max(1, Math.round((window_s / 2) * frame_rate_hz));
  const found: Moment[] = [];
  const at = (frame: number, one: number) => (frame * entities + one) * poseFloats;
  for (let one = entity < 0 ? 0 : entity; one < (entity < 0 ? entities : entity + 1); ++one) {
    for (let frame = 2 * half; frame + 2 * half < frames; ++frame) {
      const time_s = frame / frame_rate_hz;
      if (time_s < apart_s / 2 || time_s > run.seconds - apart_s / 2) continue;
      let change = 0;
      let jump = 0;
      for (let k = 0; k < 3; ++k) {
        const a = truth[at(frame - half, one) + k]!;
        const b = truth[at(frame, one) + k]!;
        const c = truth[at(frame + half, one) + k]!;
        change += (c - 2 * b + a) ** 2;
        jump = Math.max(jump, Math.abs(c - b), Math.abs(b - a));
      }
      if (Number.isNaN(change) || jump > teleport_m * half) continue;
      found.push({ entity: one, time_s, change_mps: (Math.sqrt(change) * frame_rate_hz) / half });
    }
  }
  found.sort((a, b) => b.change_mps - a.change_mps);
  const kept: Moment[] = [];
  const strongest = found[0]?.change_mps ?? 0;
  for (const moment of found) {
    if (moment.change_mps < 0.2 * strongest || moment.change_mps <= 1e-3) break;
    if (kept.every((other) => other.entity !== moment.entity || Math.abs(other.time_s - moment.time_s) >= apart_s)) kept.push(moment);
    if (kept.length >= 40) break;
  }
  return kept;
}
