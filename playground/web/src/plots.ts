// SPDX-License-Identifier: MIT
// Three plots over time with a common cursor and the time of the view.
import uPlot from 'uplot';
import { ours } from './methods.ts';
import { colourOf, variable } from './palette.ts';
import type { Run } from './run.ts';

const names = ['error', 'jerk', 'bytes'] as const;

/** A little more than almost all visible values. A teleport, which lasts a few frames, does not flatten the rest. */
function upperEnd(plot: uPlot): number {
  const values: number[] = [];
  plot.series.forEach((series, i) => {
    if (i === 0 || !series.show) return;
    for (const value of plot.data[i]!) if (value !== null && value !== undefined) values.push(value);
  });
  values.sort((a, b) => a - b);
  return Math.max(1e-3, 1.25 * (values[Math.floor(0.985 * values.length)] ?? 0));
}

export class Plots {
  private plots: uPlot[] = [];
  private time_s = 0;
  onSeek: (time_s: number) => void = () => {};

  constructor() {
    new ResizeObserver(() => this.resize()).observe(document.getElementById('plots')!);
  }

  private width(): number {
    return Math.max(120, document.getElementById('plot-error')!.clientWidth);
  }

  private resize(): void {
    for (const plot of this.plots) plot.setSize({ width: this.width(), height: 130 });
  }

  show(run: Run, entity: number, shown: (method: string) => boolean): void {
    for (const plot of this.plots) plot.destroy();
    const times = Array.from({ length: run.shape.frames }, (_, i) => i / run.shape.frame_rate_hz);
    const series = run.methods.map((_, method) => run.series(method, entity));
    const columns = {
      error: series.map((s) => s.error),
      jerk: series.map((s) => s.jerk),
      bytes: run.methods.map((_, method) => run.bytes(method)),
    };
    this.plots = names.map((name) => this.make(name, run, [times, ...columns[name]] as uPlot.AlignedData, shown));
  }

  private make(name: (typeof names)[number], run: Run, data: uPlot.AlignedData, shown: (m: string) => boolean): uPlot {
    const axis: uPlot.Axis = {
      stroke: variable('--soft'), grid: { stroke: variable('--line'), width: 1 }, ticks: { show: false },
      font: '11px system-ui, "Liberation Sans", sans-serif',
    };
    const options: uPlot.Options = {
      width: this.width(),
      height: 130,
      legend: { show: false },
      scales: { x: { time: false, range: [0, Math.max(0.1, run.seconds)] }, y: { range: (plot) => [0, upperEnd(plot)] } },
      cursor: { sync: { key: 'time' }, drag: { x: false, y: false }, points: { show: false } },
      axes: [{ ...axis, size: 24, values: (_u, values) => values.map((v) => `${v} s`) }, { ...axis, size: 52 }],
      series: [
        {},
        ...run.methods.map((method) => ({
          label: method, stroke: colourOf(method), width: method === ours ? 1.8 : 1.2, show: shown(method), points: { show: false },
        })),
      ],
      hooks: {
        draw: [
          (plot) => {
            const x = Math.round(plot.valToPos(this.time_s, 'x', true)) + 0.5;
            plot.ctx.strokeStyle = variable('--accent');
            plot.ctx.beginPath();
            plot.ctx.moveTo(x, plot.bbox.top);
            plot.ctx.lineTo(x, plot.bbox.top + plot.bbox.height);
            plot.ctx.stroke();
          },
        ],
      },
    };
    const plot = new uPlot(options, data, document.getElementById(`plot-${name}`)!);
    plot.ctx.canvas.setAttribute('role', 'img');
    plot.ctx.canvas.setAttribute('aria-label', `Plot of ${name} over time`);
    plot.over.addEventListener('click', (event) => this.onSeek(plot.posToVal(event.offsetX, 'x')));
    return plot;
  }

  /** Moves the line of the view's time. */
  mark(time_s: number): void {
    if (time_s === this.time_s) return;
    this.time_s = time_s;
    for (const plot of this.plots) plot.redraw(false, false);
  }
}
