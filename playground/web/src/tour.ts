// SPDX-License-Identifier: MIT
// A tour of five steps for a first visit. It covers nothing and takes no focus by itself, so the page stays usable.
import { element } from './dom.ts';

interface Step {
  target: string; // selector of what the step is about
  title: string;
  text: string;
}

const steps: Step[] = [
  { target: '#view', title: 'Two ways to draw the same player',
    text: 'The dark body is where the other player really is. The coloured one is what the screen shows: with a usual technique on the left, with Reckoner on the right.' },
  { target: '#transport', title: 'Play the turn slowly',
    text: 'Choose speed 1/10 and play. While a body turns, updates come late, and the screen has to guess. Space plays, and the arrow keys go picture by picture.' },
  { target: '#network', title: 'Make the network worse',
    text: 'Choose mobile or stress, or drag latency and loss. Both panes are computed again with the real code, here in the browser.' },
  { target: '#figures-card', title: 'The whole run in numbers',
    text: 'Each row is a technique; choose which one the left pane shows. Error is how far the picture is from the truth, and jerk is how much it jumps.' },
  { target: '#tabs', title: 'More to try',
    text: 'The map shows where which method is better. The blind test asks your own eyes. Why did it jump explains a recorded session. Copy link shares what you see.' },
];

const memory = 'reckoner-tour';

/** Whether this browser has seen the tour. A browser that keeps nothing has. */
function seen(): boolean {
  try {
    return localStorage.getItem(memory) !== null;
  } catch {
    return true;
  }
}

export class Tour {
  private at = -1;
  private readonly card = element('tour');

  /** `prepare` shows the tab that the steps are about. */
  constructor(private readonly prepare: () => void) {
    element('tour-next').addEventListener('click', () => (this.at + 1 < steps.length ? this.show(this.at + 1) : this.stop()));
    element('tour-back').addEventListener('click', () => this.show(Math.max(0, this.at - 1)));
    element('tour-skip').addEventListener('click', () => this.stop());
    element('tour-start').addEventListener('click', () => {
      this.show(0);
      element('tour-next').focus();
    });
    document.addEventListener('keydown', (event) => {
      if (event.key === 'Escape' && this.at >= 0) this.stop();
    });
  }

  startOnce(): void {
    if (!seen()) this.show(0);
  }

  private show(step: number): void {
    this.at = step;
    this.prepare();
    const { target, title, text } = steps[step]!;
    element('tour-step').textContent = `Step ${step + 1} of ${steps.length}`;
    element('tour-title').textContent = title;
    element('tour-text').textContent = text;
    element<HTMLButtonElement>('tour-back').disabled = step === 0;
    element('tour-next').textContent = step + 1 < steps.length ? 'Next' : 'Done';
    this.card.hidden = false;
    this.mark(document.querySelector(target));
  }

  private stop(): void {
    const inside = this.card.contains(document.activeElement);
    this.at = -1;
    this.mark(null);
    this.card.hidden = true;
    if (inside) element('tour-start').focus();
    try {
      localStorage.setItem(memory, 'done');
    } catch {
      // The tour comes again at the next visit.
    }
  }

  private mark(target: Element | null): void {
    for (const old of document.querySelectorAll('.tour-target')) old.classList.remove('tour-target');
    if (!target) return;
    target.classList.add('tour-target');
    const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    // The card is at the bottom of the window.
    const { top, bottom } = target.getBoundingClientRect();
    if (top < 0 || bottom > innerHeight - this.card.offsetHeight) target.scrollIntoView({ block: 'start', behavior: calm ? 'auto' : 'smooth' });
  }
}
