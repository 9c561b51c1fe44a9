// SPDX-License-Identifier: MIT
// One colour per method, with enough contrast on light and dark backgrounds.
const light: Record<string, string> = {
  reckoner: '#0b6bcb', snap: '#d64545', article: '#9a6700', quadratic: '#7c4dbd', linear: '#c2499d',
  projective: '#1a8754', 'offset-decay': '#c2571a', tracker: '#087f8c', 'lerp-buffer': '#6b7280', 'hermite-buffer': '#3f6212', 'colyseus-like': '#5b5bd6',
};
const dark: Record<string, string> = {
  reckoner: '#5aaefc', snap: '#ff7b72', article: '#e3b341', quadratic: '#bc9bf5', linear: '#f58ad0',
  projective: '#4ac58a', 'offset-decay': '#f0965a', tracker: '#4fc8d6', 'lerp-buffer': '#a3adb8', 'hermite-buffer': '#a3cf5a', 'colyseus-like': '#9ea4ff',
};

export const prefersDark = () => matchMedia('(prefers-color-scheme: dark)').matches;
export const colourOf = (method: string) => (prefersDark() ? dark : light)[method] ?? '#888888';
export const truthColour = () => (prefersDark() ? '#e9edf1' : '#16191d');
export const variable = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
