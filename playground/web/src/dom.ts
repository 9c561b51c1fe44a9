// SPDX-License-Identifier: MIT
export function element<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element '${id}'`);
  return found as T;
}

export function make<K extends keyof HTMLElementTagNameMap>(
  name: K, properties: Partial<HTMLElementTagNameMap[K]> = {}, ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

export function options(select: HTMLSelectElement, entries: [value: string, label: string][], value: string): void {
  select.replaceChildren(...entries.map(([v, label]) => make('option', { value: v, textContent: label })));
  select.value = value;
}

let hide = 0;
export function toast(text: string): void {
  const box = element('toast');
  box.textContent = text;
  box.classList.add('shown');
  clearTimeout(hide);
  hide = window.setTimeout(() => box.classList.remove('shown'), 2200);
}

export async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast(`${what} copied`);
  } catch {
    window.prompt(`Copy the ${what.toLowerCase()}:`, text); // no permission, or no secure origin
  }
}

/** Four significant digits: enough to compare, short enough to read. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1000) return value.toFixed(0);
  return value.toFixed(Math.min(4, Math.max(0, 3 - Math.floor(Math.log10(size)) - 1)));
}

/** Tabs that the arrow keys move between. `shown` is called with the name of each chosen tab. */
export function tabs(shown: (name: string) => void): (name: string) => void {
  const buttons = [...document.querySelectorAll<HTMLButtonElement>('[role=tab]')];
  const choose = (button: HTMLButtonElement) => {
    for (const one of buttons) {
      const chosen = one === button;
      one.setAttribute('aria-selected', String(chosen));
      one.tabIndex = chosen ? 0 : -1;
      element(one.getAttribute('aria-controls')!).hidden = !chosen;
    }
    shown(button.id.replace('tab-', ''));
  };
  buttons.forEach((button, i) => {
    button.addEventListener('click', () => choose(button));
    button.addEventListener('keydown', (event) => {
      const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
      if (step === 0) return;
      const next = buttons[(i + step + buttons.length) % buttons.length]!;
      next.focus();
      choose(next);
    });
  });
  return (name) => choose(element<HTMLButtonElement>(`tab-${name}`));
}

/** Empties a canvas and fits it to the screen's pixels. Its pen draws in CSS pixels. Null while the canvas is hidden. */
export function clearedPen(canvas: HTMLCanvasElement): CanvasRenderingContext2D | null {
  const ratio = Math.min(devicePixelRatio, 2);
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  if (width === 0) return null;
  if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
  if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
  const pen = canvas.getContext('2d')!;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  return pen;
}
