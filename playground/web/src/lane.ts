// SPDX-License-Identifier: MIT
// Draws the packets of one method in flight: the server is left, the client right.
import { clearedPen } from './dom.ts';
import { packetFloats } from './module.ts';
import { variable } from './palette.ts';
import type { Run } from './run.ts';

/** The part of the canvas that belongs to one pane, CSS pixels. */
export interface Lane {
  left: number;
  right: number;
}

const lostShown_s = 0.5;

/** Where a datagram is at `time_s`, as a share of the way. Null if it is not in flight. */
export function flight(packets: Float32Array, i: number, time_s: number): { share: number; lost: boolean } | null {
  const sent = packets[i]!;
  const arrived = packets[i + 1]!;
  const lost = Number.isNaN(arrived);
  if (sent > time_s || time_s > (lost ? sent + lostShown_s : arrived)) return null;
  return { share: lost ? Math.min(0.5, (time_s - sent) / 0.2) : (time_s - sent) / Math.max(1e-6, arrived - sent), lost };
}

/** The centre of a datagram, CSS pixels. */
export function placeOf(lane: Lane, height: number, down: boolean, share: number): [x: number, y: number] {
  const { left, right } = ends(lane);
  return [down ? left + share * (right - left) : right - share * (right - left), height * (down ? 0.34 : 0.72)];
}

const ends = (lane: Lane) => ({ left: lane.left + 54, right: lane.right - 50 });

export function drawLanes(canvas: HTMLCanvasElement, run: Run, parts: { lane: Lane; method: number; colour: string; chosen: number }[], time_s: number): void {
  const pen = clearedPen(canvas);
  if (!pen) return;
  for (const { lane, method, colour, chosen } of parts) drawLane(pen, canvas.clientHeight, lane, run, method, time_s, colour, chosen);
}

function drawLane(pen: CanvasRenderingContext2D, height: number, lane: Lane, run: Run, method: number, time_s: number, colour: string, chosen: number): void {
  const { left, right } = ends(lane);
  pen.strokeStyle = variable('--line');
  for (const down of [true, false]) {
    const [, y] = placeOf(lane, height, down, 0);
    pen.beginPath();
    pen.moveTo(left, y);
    pen.lineTo(right, y);
    pen.stroke();
  }
  pen.fillStyle = variable('--soft');
  pen.font = '12px system-ui, "Liberation Sans", sans-serif';
  pen.textBaseline = 'middle';
  pen.textAlign = 'right';
  pen.fillText('Server', left - 9, height / 2);
  pen.textAlign = 'left';
  pen.fillText('Client', right + 9, height / 2);
  if (method < 0) return;
  const packets = run.packets(method);
  const bad = variable('--bad');
  for (let i = 0; i < packets.length; i += packetFloats) {
    const flying = flight(packets, i, time_s);
    if (!flying) continue;
    const [x, y] = placeOf(lane, height, packets[i + 3] === 1, flying.share);
    const size = Math.min(7, 2 + Math.sqrt(packets[i + 2]!) / 4);
    if (i === chosen) {
      pen.strokeStyle = variable('--text');
      pen.beginPath();
      pen.arc(x, y, size + 3.5, 0, 7);
      pen.stroke();
    }
    const gone_s = time_s - packets[i]! - 0.1;
    if (flying.lost && gone_s > 0) {
      pen.strokeStyle = bad;
      pen.globalAlpha = Math.max(0, 1 - gone_s / 0.4);
      pen.lineWidth = 2;
      pen.beginPath();
      pen.moveTo(x - 4, y - 4);
      pen.lineTo(x + 4, y + 4);
      pen.moveTo(x + 4, y - 4);
      pen.lineTo(x - 4, y + 4);
      pen.stroke();
      pen.globalAlpha = 1;
      pen.lineWidth = 1;
      continue;
    }
    pen.fillStyle = packets[i + 4] === 1 ? colour : variable('--soft');
    pen.beginPath();
    pen.arc(x, y, size, 0, 7);
    pen.fill();
  }
}
