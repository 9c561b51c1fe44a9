// SPDX-License-Identifier: MIT
// The table of figures. Each cell shows a short number; its title has every digit.
import { element, make, short } from './dom.ts';
import { methodHelp, ours, plainName } from './methods.ts';
import { colourOf } from './palette.ts';
import type { Figures, Run } from './run.ts';

export interface Column {
  name: string;
  title: string;
  help: string;
  /** Which values are good; absent if neither. */
  better?: 'less';
  of(figures: Figures): number | null;
}

/** Figures of errors and jerks exist only if the method showed something. */
const shown = (figure: (f: Figures) => number | null | undefined) => (f: Figures): number | null =>
  (f.frames?.counted ?? 0) > 0 ? figure(f) ?? null : null;

export const columns: Column[] = [
  { name: 'now_error_m.p95', title: 'Error, m', better: 'less', help: '95 % of the pictures are closer to the truth of that instant', of: shown((f) => f.now_error_m?.p95) },
  { name: 'shown_error_m.p95', title: 'Path error, m', better: 'less', help: '95 % of the pictures are closer to the truth of the instant that they show, which is earlier if there is a delay', of: shown((f) => f.shown_error_m?.p95) },
  { name: 'angle_error_rad.p95', title: 'Angle error, rad', better: 'less', help: '95 % of the pictures are turned less from the truth', of: shown((f) => f.angle_error_rad?.p95) },
  { name: 'velocity_step_mps.p99', title: 'Jerk, m/s', better: 'less', help: 'Change of the shown velocity from one picture to the next, beyond the truth: 99 % are smaller', of: shown((f) => f.velocity_step_mps?.p99) },
  { name: 'excess_acceleration_mps2', title: 'Shake, m/s²', better: 'less', help: 'Acceleration that the true motion does not have', of: shown((f) => f.excess_acceleration_mps2) },
  { name: 'delay_ms.mean', title: 'Delay, ms', help: 'How far in the past the client shows the entities', of: shown((f) => f.delay_ms?.mean) },
  { name: 'updates_per_s', title: 'Updates /s', help: 'Updates per entity and second', of: (f) => f.updates_per_s },
  { name: 'wire_bytes_per_s', title: 'Bytes /s', help: 'Bytes to the client per entity and second, with all headers', of: (f) => f.wire_bytes_per_s },
];

/** The methods with the least value of a column. None if no method has a value. */
export function bestOf(column: Column, all: Figures[]): string[] {
  const values = all.flatMap((f) => {
    const value = column.of(f);
    return typeof value === 'number' && Number.isFinite(value) ? [{ method: f.method, value }] : [];
  });
  if (!column.better || values.length < 2) return [];
  const least = Math.min(...values.map((one) => one.value));
  return values.filter((one) => one.value === least).map((one) => one.method);
}

export interface TableActions {
  /** Shows a method in the left pane. */
  show(method: string): void;
  compute(methods: string[]): void;
}

/** One row per method of `all`; those without a result offer to compute it. */
export function showFigures(run: Run, all: string[], left: string, actions: TableActions): void {
  const table = element<HTMLTableElement>('figures');
  const used = columns.filter((column) => run.figures.some((f) => typeof column.of(f) === 'number'));
  table.tHead!.replaceChildren(
    make('tr', {}, make('th', { scope: 'col', textContent: 'Left pane' }),
      ...used.map((c) => make('th', { scope: 'col', textContent: c.title, title: c.help }))),
  );
  const best = new Map(used.map((c) => [c, bestOf(c, run.figures)]));
  table.tBodies[0]!.replaceChildren(
    ...all.map((method) => {
      const swatch = make('span', { className: 'swatch' });
      swatch.style.background = colourOf(method);
      const name = make('span', { textContent: plainName(method), title: methodHelp(method) });
      const code = make('code', { textContent: method });
      const head = make('td');
      if (method === ours) {
        head.append(make('span', { className: 'right-pane' }, make('span', { className: 'side', textContent: 'right' }), swatch, name));
      } else {
        const radio = make('input', { type: 'radio', name: 'left-method', value: method, checked: method === left });
        radio.addEventListener('change', () => actions.show(method));
        head.append(make('label', {}, radio, swatch, name, code));
      }
      const row = make('tr', { className: method === ours ? 'ours' : '' }, head);
      row.dataset.method = method;
      const figures = run.figuresOf(method);
      if (!figures) {
        const reason = run.failed.get(method);
        const cell = make('td', { colSpan: used.length, className: 'none' });
        if (reason !== undefined) cell.append(`no figures: ${reason}`);
        else {
          const button = make('button', { type: 'button', textContent: 'Compute' });
          button.setAttribute('aria-label', `Compute ${plainName(method)}`);
          button.addEventListener('click', () => actions.compute([method]));
          cell.append(button);
        }
        row.append(cell);
        return row;
      }
      for (const column of used) {
        const value = column.of(figures);
        const cell = make('td', { textContent: typeof value === 'number' ? short(value) : '–', title: String(value ?? 'nothing was shown') });
        if (best.get(column)!.includes(method)) {
          cell.classList.add('best');
          cell.title += ' (the best of those computed)';
        }
        cell.dataset.figure = column.name;
        row.append(cell);
      }
      return row;
    }),
  );
  element('compute-all').hidden = all.every((method) => run.has(method) || run.failed.has(method));
}
