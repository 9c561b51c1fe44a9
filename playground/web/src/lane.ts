// SPDX-License-Identifier: MIT
// Draws the packets of one method in flight: the server is left, the client right.
import { clearedPen } from './dom.ts';
import { packetFloats } from './module.ts';
import { variable } from './palette.ts';
import type { Run } from './run.ts';

export function drawLane(canvas: HTMLCanvasElement, run: Run, method: number, time_s: number, colour: string): void {
  const pen = clearedPen(canvas);
  if (!pen) return;
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  const left = 66;
  const right = width - 60;
  const rows = { down: height * 0.34, up: height * 0.72 };
  pen.strokeStyle = variable('--line');
  for (const y of [rows.down, rows.up]) {
    pen.beginPath();
    pen.moveTo(left, y);
    pen.lineTo(right, y);
    pen.stroke();
  }
  pen.fillStyle = variable('--soft');
  pen.font = '12px system-ui, "Liberation Sans", sans-serif';
  pen.textBaseline = 'middle';
  pen.textAlign = 'right';
  pen.fillText('Server', left - 12, height / 2);
  pen.textAlign = 'left';
  pen.fillText('Client', right + 12, height / 2);
  const packets = run.packets(method);
  const lost = variable('--bad');
  for (let i = 0; i < packets.length; i += packetFloats) {
    const sent = packets[i]!;
    if (sent > time_s) continue;
    const arrived = packets[i + 1]!;
    const down = packets[i + 3] === 1;
    const isLost = Number.isNaN(arrived);
    if (time_s > (isLost ? sent + 0.5 : arrived)) continue;
    const share = isLost ? Math.min(0.5, (time_s - sent) / 0.2) : (time_s - sent) / Math.max(1e-6, arrived - sent);
    const x = down ? left + share * (right - left) : right - share * (right - left);
    const y = down ? rows.down : rows.up;
    if (isLost && time_s - sent > 0.1) {
      pen.strokeStyle = lost;
      pen.globalAlpha = Math.max(0, 1 - (time_s - sent - 0.1) / 0.4);
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
    pen.arc(x, y, Math.min(7, 2 + Math.sqrt(packets[i + 2]!) / 4), 0, 7);
    pen.fill();
  }
}
