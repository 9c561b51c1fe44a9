// SPDX-License-Identifier: MIT
// The table of figures. Each cell shows a short number; its title has every digit.
import { element, make, short } from './dom.ts';
import { colourOf } from './palette.ts';
import type { Figures, Run } from './run.ts';

export interface Column {
  name: string;
  title: string;
  help: string;
  of(figures: Figures): number | null;
}

export const columns: Column[] = [
  { name: 'now_error_m.p95', title: 'Error p95, m', help: 'Same-time error: shown pose against the truth at that instant', of: (f) => f.now_error_m?.p95 },
  { name: 'shown_error_m.p95', title: 'Path p95, m', help: 'Shown pose against the truth at the instant that it shows', of: (f) => f.shown_error_m?.p95 },
  { name: 'angle_error_rad.p95', title: 'Angle p95, rad', help: 'The same-time error of the orientation', of: (f) => f.angle_error_rad?.p95 ?? null },
  { name: 'velocity_step_mps.p99', title: 'Jerk p99, m/s', help: 'Change of the shown velocity per picture, beyond the truth', of: (f) => f.velocity_step_mps?.p99 },
  { name: 'pops_per_s', title: 'Pops /s', help: 'Visible jerks per second', of: (f) => f.pops_per_s },
  { name: 'excess_acceleration_mps2', title: 'Excess accel., m/s²', help: 'Acceleration that the true motion does not have', of: (f) => f.excess_acceleration_mps2 },
  { name: 'delay_ms.mean', title: 'Delay, ms', help: 'How far in the past the client shows the entities', of: (f) => f.delay_ms?.mean },
  { name: 'updates_per_s', title: 'Updates /s', help: 'Updates per entity and second', of: (f) => f.updates_per_s },
  { name: 'wire_bytes_per_s', title: 'Bytes /s', help: 'Bytes to the client per entity and second, with all headers', of: (f) => f.wire_bytes_per_s },
];

export function showFigures(run: Run, visible: (method: string) => boolean, toggle: (method: string, on: boolean) => void): void {
  const table = element<HTMLTableElement>('figures');
  const used = columns.filter((column) => run.figures.some((f) => typeof column.of(f) === 'number'));
  table.tHead!.replaceChildren(
    make('tr', {}, make('th', { scope: 'col', textContent: 'Method' }),
      ...used.map((c) => make('th', { scope: 'col', textContent: c.title, title: c.help }))),
  );
  const best = new Map(used.slice(0, 6).map((c) => [c, Math.min(...run.figures.map((f) => c.of(f) ?? Infinity))]));
  table.tBodies[0]!.replaceChildren(
    ...run.figures.map((figures) => {
      const box = make('input', { type: 'checkbox', checked: visible(figures.method) });
      box.addEventListener('change', () => toggle(figures.method, box.checked));
      const swatch = make('span', { className: 'swatch' });
      swatch.style.background = colourOf(figures.method);
      const row = make('tr', { className: figures.method === 'reckoner' ? 'ours' : '' },
        make('td', {}, make('label', {}, box, swatch, figures.method)));
      row.dataset.method = figures.method;
      for (const column of used) {
        const value = column.of(figures);
        const cell = make('td', { textContent: typeof value === 'number' ? short(value) : '–', title: String(value ?? '') });
        if (best.get(column) === value) cell.classList.add('best');
        cell.dataset.figure = column.name;
        row.append(cell);
      }
      return row;
    }),
  );
}
