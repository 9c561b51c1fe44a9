// SPDX-License-Identifier: MIT
// The methods in plain words. The short names are those of the harness (docs/TUNING.md).

/** Completes the sentence "What … shows". */
const plain: Record<string, string> = {
  reckoner: 'Reckoner',
  snap: 'drawing each update',
  article: 'a spline to the next update',
  quadratic: 'extrapolation with acceleration',
  linear: 'extrapolation in a straight line',
  projective: 'projective velocity blending',
  'offset-decay': 'a jump that fades',
  tracker: 'a spring that follows',
  'lerp-buffer': 'delayed lines between updates',
  'hermite-buffer': 'delayed curves between updates',
  'colyseus-like': 'a correction that fades fast',
};

const help: Record<string, string> = {
  reckoner: 'Sends fitted motions when a prediction would be wrong, and blends or interpolates them.',
  snap: 'Each update is drawn at once, and continues at its velocity until the next one. Nothing is smoothed.',
  article: 'The spline of Caldwell (2000).',
  quadratic: 'Continues with the true acceleration. A cubic curve blends to each update.',
  linear: 'Continues at the velocity of the update. A cubic curve blends to each update.',
  projective: 'Projective velocity blending of Murphy (2011), common in dead reckoning.',
  'offset-decay': 'The motion snaps, and a visual offset decays (Fiedler).',
  tracker: 'A second-order tracker.',
  'lerp-buffer': 'Shows the past, interpolated in straight lines between updates, as Mirror does.',
  'hermite-buffer': 'Shows the past, interpolated in curves between updates, as Source does.',
  'colyseus-like': 'Constant velocity; corrections fade in 50 ms, as documented by Colyseus 0.18.',
};

export const ours = 'reckoner';
export const plainName = (method: string) => plain[method] ?? method;
export const methodHelp = (method: string) => help[method] ?? '';
/** The plain name with the short one behind, for lists. */
export const fullName = (method: string) => (plainName(method).toLowerCase() === method ? plainName(method) : `${plainName(method)} (${method})`);
