// SPDX-License-Identifier: MIT
// What there is in the game: the same for the server and every client.
export const archetypes = [
  { name: 'player', thresholdM: 0.02, maxSpeedMps: 20, fields: [{ name: 'hue', type: 'integer', most: 359 }] },
];
